-- Roles belong to the server, not to the database, so a migration cannot create them: another database may have created the role already.
select ensure_dashboard_role();

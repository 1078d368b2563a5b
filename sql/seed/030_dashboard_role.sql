-- Roles cannot be part of a migration: they belong to the server, and another database may have made it already.
select ensure_dashboard_role();

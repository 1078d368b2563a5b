create or replace function has_administrator_role() returns boolean
language sql
stable
-- The function decides what the current user may see, so it must itself see all rows.
security definer
set search_path = model_proxy, pg_temp
as $$
    select exists (select 1 from users u where u.id = current_user_id() and u.role = 'owner');
$$;

comment on function has_administrator_role() is 'Whether the current user is an owner of the whole installation, even if an admin key limits what the user may do now.';

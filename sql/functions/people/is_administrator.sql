create or replace function is_administrator() returns boolean
language sql
stable
-- The function decides what the current user may see, so it must itself see all rows.
security definer
set search_path = model_proxy, pg_temp
as $$
    select has_administrator_role() and current_key_project() is null;
$$;

comment on function is_administrator() is 'Whether the current user is an owner of the whole installation, and does not act through an admin key that is limited to one project.';

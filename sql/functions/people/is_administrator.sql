create or replace function is_administrator() returns boolean
language sql
stable
-- The function decides what the current user may see, so it must itself see all rows.
security definer
set search_path = model_proxy, pg_temp
as $$
    select exists (select 1 from users u where u.id = current_user_id() and u.role = 'owner');
$$;

comment on function is_administrator() is 'Whether the current user is an owner of the whole installation.';

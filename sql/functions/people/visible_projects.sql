create or replace function visible_projects() returns setof bigint
language sql
stable
-- The function decides what the current user may see, so it must itself see all rows.
security definer
set search_path = model_proxy, pg_temp
as $$
    select p.id
    from projects p
    where exists (select 1 from users u where u.id = current_user_id() and u.role = 'owner')
    union
    select m.project_id
    from memberships m
    where m.user_id = current_user_id();
$$;

comment on function visible_projects() is 'Projects that the current user may see: all for an administrator, else the user''s memberships. Row-level security relies on it.';

create or replace function visible_projects() returns setof bigint
language sql
stable
-- The function decides what the current user may see, so it must itself see all rows.
security definer
set search_path = model_proxy, pg_temp
as $$
    select p.id
    from projects p
    where (select has_administrator_role())
        and ((select current_key_project()) is null or p.id = (select current_key_project()))
    union
    select m.project_id
    from memberships m
    where m.user_id = current_user_id()
        and ((select current_key_project()) is null or m.project_id = (select current_key_project()));
$$;

comment on function visible_projects() is 'Projects that the current user may see: all for an administrator, else the user''s memberships; with an admin key that is limited to one project, only that one. Row-level security relies on it.';

create or replace function memberships_of(of_users bigint[])
returns table (user_id bigint, project_id bigint, role text)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select m.user_id, m.project_id, m.role
    from memberships m
    where m.user_id = any (of_users)
    order by m.user_id, m.project_id;
$$;

comment on function memberships_of(bigint[]) is 'Projects of users with their roles there, of those that the current user may see.';

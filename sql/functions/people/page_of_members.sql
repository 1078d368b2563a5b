create or replace function page_of_members(of_project bigint, only_user bigint, after_id bigint, page_size integer)
returns table (
    user_id bigint,
    email text,
    role text,
    created_at timestamptz
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select u.id, u.email, m.role, m.created_at
    from memberships m
    join users u on u.id = m.user_id
    where m.project_id = of_project
        and (only_user is null or u.id = only_user)
        and (after_id is null or u.id > after_id)
    order by u.id
    limit page_size;
$$;

comment on function page_of_members(bigint, bigint, bigint, integer) is 'Members of a project by id, after a given one. Administrators see every project without being members.';

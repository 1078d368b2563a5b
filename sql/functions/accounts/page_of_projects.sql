create or replace function page_of_projects(only_project bigint, include_archived boolean, after_id bigint, page_size integer)
returns table (
    id bigint,
    name text,
    plan text,
    created_at timestamptz,
    archived_at timestamptz,
    your_role text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        p.id,
        p.name,
        p.plan,
        p.created_at,
        p.archived_at,
        case
            when is_administrator() then 'owner'
            else (select m.role from memberships m where m.project_id = p.id and m.user_id = current_user_id())
        end
    from projects p
    where (only_project is null or p.id = only_project)
        and (include_archived or p.archived_at is null)
        and (after_id is null or p.id > after_id)
    order by p.id
    limit page_size;
$$;

comment on function page_of_projects(bigint, boolean, bigint, integer) is 'Projects that the current user may see, oldest first, after a given one; your_role: the current user''s role there.';

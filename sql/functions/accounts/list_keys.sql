create or replace function list_keys(project text)
returns table (
    prefix text,
    type text,
    state text,
    created text,
    expires text,
    last_used text,
    name text
)
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    owner_id bigint := find_project(project);
    iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS"Z"';
begin
    return query
    select
        k.prefix,
        k.type,
        case
            when k.deactivated_at is not null then 'deactivated'
            when k.expires_at <= now() then 'expired'
            else 'active'
        end,
        to_char(k.created_at at time zone 'utc', iso),
        to_char(k.expires_at at time zone 'utc', iso),
        to_char(k.last_used_at at time zone 'utc', iso),
        k.name
    from api_keys k
    where k.project_id = owner_id
    order by k.created_at, k.id;
end;
$$;

comment on function list_keys(text) is 'Keys of a project, oldest first, by prefix: type, state (active, expired, deactivated), times in UTC. The name comes last, so that lines are easy to cut. Raises on an unknown project.';

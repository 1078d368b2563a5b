create or replace function list_provider_keys(project text, of_provider text)
returns table (
    provider text,
    last_four text,
    created text,
    updated text,
    name text,
    weight integer
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
        k.provider,
        k.last_four,
        to_char(k.created_at at time zone 'utc', iso),
        to_char(k.updated_at at time zone 'utc', iso),
        k.name,
        k.weight
    from provider_keys k
    where k.project_id = owner_id
        and (of_provider is null or k.provider = of_provider)
    order by k.provider, k.name;
end;
$$;

comment on function list_provider_keys(text, text) is 'A project''s keys for a direct provider, or for all (null), by their last four characters, with times in UTC. Raises on an unknown project.';

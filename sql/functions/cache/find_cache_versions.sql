create or replace function find_cache_versions(project_ids bigint[], tests boolean[], namespaces text[], versions text[])
returns table (is_old boolean, is_recorded boolean)
language sql
stable
rows 50
set search_path = model_proxy, pg_temp
as $$
    select
        case
            when v.id is not null then v.superseded_at is not null
            else n.id is not null and is_older_version(split_part(g.version, '@', 2), n.version)
        end,
        v.id is not null and v.last_named_at > now() - interval '1 day'
    from unnest(project_ids, tests, namespaces, versions) with ordinality as g (project_id, test, namespace, version, at)
    left join cache_versions n
        on n.project_id = g.project_id
        and n.test = g.test
        and n.namespace = g.namespace
        and n.name = split_part(g.version, '@', 1)
        and n.superseded_at is null
    left join cache_versions v
        on v.project_id = g.project_id
        and v.test = g.test
        and v.namespace = g.namespace
        and v.name = split_part(g.version, '@', 1)
        and v.version = split_part(g.version, '@', 2)
    order by g.at;
$$;

comment on function find_cache_versions(bigint[], boolean[], text[], text[]) is 'Whether each version, given as name@version, is older than the newest of its name, and whether name_cache_version() has recorded it within a day. One row per version, in the given order.';

create or replace function find_cache_versions(project_ids bigint[], tests boolean[], namespaces text[], versions text[])
returns table (is_old boolean, is_recorded boolean)
language sql
stable
rows 50
set search_path = model_proxy, pg_temp
as $$
    select v.superseded_at is not null, coalesce(v.last_named_at > now() - interval '1 day', false)
    from unnest(project_ids, tests, namespaces, versions) with ordinality as g (project_id, test, namespace, version, at)
    -- The limit forces an index scan per version, whatever table size the planner estimates.
    left join lateral (
        select x.last_named_at, x.superseded_at
        from cache_versions x
        where x.project_id = g.project_id
            and x.test = g.test
            and x.namespace = g.namespace
            and x.name = split_part(g.version, '@', 1)
            and x.version = split_part(g.version, '@', 2)
        limit 1
    ) v on true
    order by g.at;
$$;

comment on function find_cache_versions(bigint[], boolean[], text[], text[]) is 'Whether each version, given as name@version, is known to be older than the newest of its name, and whether name_cache_version() has recorded it within a day. One row per version, in the given order.';

create or replace function store_vectors(
    of_project bigint,
    under_names bytea,
    vectors bytea,
    lengths integer[],
    token_counts integer[],
    model_names text[],
    ttl_seconds integer,
    for_test boolean default false,
    for_generation integer default null
)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    with limits as materialized (
        select least(pl.max_cache_ttl_seconds, case when for_test then 86400 end) as max_ttl_seconds
        from projects p
        join plans pl on pl.name = p.plan
        where p.id = of_project
            and (for_generation is null or p.cache_generation = for_generation)
        -- Locked, so that a purge runs entirely before or after. A project that another transaction has locked is skipped.
        for share of p skip locked
    ),
    replaced as materialized (
        select v.name, v.bytes
        from generate_series(0, octet_length(under_names) / 32 - 1) as given (place)
        cross join lateral (
            select x.name, x.bytes
            from cached_vectors x
            where x.project_id = of_project
                and x.name = substring(under_names from given.place * 32 + 1 for 32)
            limit 1
        ) v
    ),
    stored as (
        insert into cached_vectors as v (project_id, name, vector, prompt_tokens, answered_as, expires_at, test)
        select
            of_project,
            substring(under_names from (given.place::integer - 1) * 32 + 1 for 32) as name,
            substring(vectors from given.ends::integer - given.length + 1 for given.length),
            given.prompt_tokens,
            given.answered_as,
            now() + make_interval(secs => least(ttl_seconds, limits.max_ttl_seconds)),
            for_test
        from (
            select g.*, sum(g.length) over (order by g.place) as ends
            from unnest(lengths, token_counts, model_names) with ordinality as g (length, prompt_tokens, answered_as, place)
        ) given
        cross join limits
        -- In a fixed order, so that two batches with common inputs wait for each other rather than deadlock.
        order by name
        on conflict (project_id, name) do update
        set vector = excluded.vector,
            prompt_tokens = excluded.prompt_tokens,
            answered_as = excluded.answered_as,
            created_at = excluded.created_at,
            expires_at = excluded.expires_at,
            test = excluded.test
        returning v.name, v.test, v.bytes, v.xmax = 0 as is_new
    )
    insert into cache_size_changes (project_id, kind, test, entries, bytes)
    select
        of_project,
        'vectors',
        s.test,
        count(*) filter (where s.is_new),
        sum(case when s.is_new then s.bytes else s.bytes - coalesce(r.bytes, s.bytes) end)
    from stored s
    left join replaced r on r.name = s.name
    group by s.test;
$$;

comment on function store_vectors(bigint, bytea, bytea, integer[], integer[], text[], integer, boolean, integer) is
    'Stores or replaces vectors of a project. Names (32 bytes each) and vectors are concatenated, with each one''s length, prompt tokens and answering model in lists; names must be distinct. Those of test keys live at most a day. Nothing is stored for a project that is gone, locked, or was purged since (its cache generation differs from the given one; null skips this check).';

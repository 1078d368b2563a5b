create or replace function store_vectors(
    of_project bigint,
    vector_names bytea[],
    vectors bytea,
    lengths integer[],
    token_counts integer[],
    model_names text[],
    ttl_seconds integer,
    for_test boolean default false,
    for_generation integer default null,
    of_key bigint default null,
    of_user text default null,
    in_namespace text default null,
    under_version text default null
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    most_seconds integer;
    -- Names and sizes of those vectors that the project had before this call.
    former_names bytea[];
    former_bytes integer[];
    under_version_id bigint;
begin
    -- The project is locked, so that a purge runs entirely before or after. If another transaction has locked it, nothing is stored.
    select least(pl.max_cache_ttl_seconds, case when for_test then 86400 end)
    into most_seconds
    from projects p
    join plans pl on pl.name = p.plan
    where p.id = of_project
        and (for_generation is null or p.cache_generation = for_generation)
    for share of p skip locked;
    if not found then
        return;
    end if;
    if under_version is not null then
        under_version_id := lock_cache_version(of_project, for_test, in_namespace, under_version);
        if under_version_id is null then
            return;
        end if;
    end if;

    select array_agg(v.name), array_agg(v.bytes)
    into former_names, former_bytes
    from unnest(vector_names) as g (name)
    cross join lateral (
        select x.name, x.bytes
        from cached_vectors x
        where x.project_id = of_project
            and x.name = g.name
        limit 1
    ) v;

    with stored as (
        insert into cached_vectors as v (project_id, name, vector, prompt_tokens, response_model, expires_at, test, key_id, end_user, version_id)
        select
            of_project,
            given.name,
            substring(vectors from given.ends::integer - given.length + 1 for given.length),
            given.prompt_tokens,
            given.response_model,
            now() + make_interval(secs => least(ttl_seconds, most_seconds)),
            for_test,
            of_key,
            of_user,
            under_version_id
        from (
            select g.*, sum(g.length) over (order by g.at) as ends
            from unnest(vector_names, lengths, token_counts, model_names) with ordinality as g (
                name, length, prompt_tokens, response_model, at
            )
        ) given
        -- A fixed order makes two batches with common inputs wait for each other instead of deadlocking.
        order by given.name
        on conflict (project_id, name) do update
        set vector = excluded.vector,
            prompt_tokens = excluded.prompt_tokens,
            response_model = excluded.response_model,
            created_at = excluded.created_at,
            expires_at = excluded.expires_at,
            test = excluded.test,
            key_id = excluded.key_id,
            end_user = excluded.end_user,
            version_id = excluded.version_id
        returning v.name, v.test, v.bytes, v.xmax = 0 as is_new
    )
    insert into cache_size_changes (project_id, kind, test, entries, bytes)
    select
        of_project,
        'vectors',
        s.test,
        count(*) filter (where s.is_new),
        sum(case when s.is_new then s.bytes else s.bytes - coalesce(f.bytes, s.bytes) end)
    from stored s
    left join unnest(former_names, former_bytes) as f (name, bytes) on f.name = s.name
    group by s.test;
end;
$$;

comment on function store_vectors(bigint, bytea[], bytea, integer[], integer[], text[], integer, boolean, integer, bigint, text, text, text) is
    'Stores or replaces vectors of a project. Vectors are concatenated, with the name, length, prompt tokens and responding model of each in lists; names must be distinct. They belong to the key and end user of the last request. Those of test keys expire within a day. Nothing is stored for a project that was deleted, is locked, or was purged since (its cache generation differs from the given one; null skips this check), or under a version (name@version; null: none) that is not the newest of its name.';

create or replace function store_cached_responses(
    project_ids bigint[],
    generations integer[],
    tests boolean[],
    request_hashes bytea[],
    namespaces text[],
    endpoints text[],
    models text[],
    providers text[],
    responses bytea,
    response_lengths integer[],
    prompt_tokens integer[],
    completion_tokens integer[],
    ttls_seconds integer[],
    context_hashes bytea[],
    normalized_hashes bytea[],
    prompts text[],
    space_ids integer[],
    vectors text[],
    topic_words text[] default null,
    key_ids bigint[] default null,
    log_contents text[] default null,
    response_ids text[] default null,
    policies text[] default null,
    end_users text[] default null,
    versions text[] default null
)
returns table (place integer, entry_id bigint)
language plpgsql
volatile
rows 50
set search_path = model_proxy, pg_temp
-- As in admit(): planning would cost more than running.
set plan_cache_mode = force_generic_plan
-- As in search_cache(): storing beside 60,000 entries would take four times as long.
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    kept record;
    -- By position; null if nothing was stored, or if a later response to the same request was stored.
    entry_ids bigint[] := array_fill(null::bigint, array[cardinality(project_ids)]);
    replaces boolean := false;
begin
    -- A crash may lose the entries of the last moment, which are then cache misses.
    perform set_config('synchronous_commit', 'off', true);

    for kept in
        with given as materialized (
            select
                g.at::integer as at,
                g.project_id,
                g.generation,
                g.test,
                g.namespace,
                g.endpoint,
                g.model,
                g.provider,
                g.response_length,
                g.prompt_tokens,
                g.completion_tokens,
                g.ttl_seconds,
                g.policy,
                g.request_hash,
                g.key_id,
                coalesce(g.log_content, 'off') as log_content,
                g.response_id,
                g.end_user,
                g.version,
                sum(g.response_length) over (order by g.at) - g.response_length as response_start,
                -- Row headers, hashes and index entries; the prompt; and its vector at two bytes per number, even if the vector is added
                -- later.
                300 + g.response_length + coalesce(octet_length(g.prompt) + 200, 0) + coalesce(
                    1024 + octet_length(g.vector) / 4,
                    (select 1024 + 2 * sp.dimensions from embedding_spaces sp where sp.id = g.space_id),
                    0
                ) as bytes
            from unnest(
                project_ids, generations, tests, request_hashes, namespaces, endpoints, models, providers, response_lengths,
                prompt_tokens, completion_tokens, ttls_seconds, prompts, space_ids, vectors, policies, key_ids, log_contents, response_ids,
                end_users, versions
            ) with ordinality as g (
                project_id, generation, test, request_hash, namespace, endpoint, model, provider, response_length, prompt_tokens,
                completion_tokens, ttl_seconds, prompt, space_id, vector, policy, key_id, log_content, response_id, end_user, version,
                at
            )
        ),
        -- Projects are locked, so that a purge runs entirely before or after. A project that another transaction has locked is skipped, so
        -- that it delays no other project.
        open_projects as materialized (
            select p.*
            from (select g.project_id from given g group by g.project_id order by g.project_id) wanted
            cross join lateral (
                select p.id, p.cache_generation, pl.max_cache_ttl_seconds
                from projects p
                join plans pl on pl.name = p.plan
                where p.id = wanted.project_id
                limit 1
                for share of p skip locked
            ) p
        ),
        -- Of a name, only the newest version is stored.
        open_versions as materialized (
            select g.at, lock_cache_version(g.project_id, g.test, g.namespace, g.version) as version_id
            from given g
            where g.version is not null
        ),
        latest as materialized (
            select distinct on (g.project_id, g.request_hash)
                g.*,
                v.version_id,
                convert_from(substring(responses from g.response_start::integer + 1 for g.response_length), 'utf8') as response,
                now() + make_interval(
                    secs => least(g.ttl_seconds, p.max_cache_ttl_seconds, case when g.test then 86400 end)
                ) as expires_at
            from given g
            join open_projects p on p.id = g.project_id
            left join open_versions v on v.at = g.at
            where (g.generation is null or g.generation = p.cache_generation)
                and (g.version is null or v.version_id is not null)
            order by g.project_id, g.request_hash, g.at desc
        ),
        stored as (
            insert into cache_entries as e (
                project_id, request_hash, namespace, endpoint, model, provider, response, prompt_tokens, completion_tokens, expires_at,
                test, bytes, key_id, log_content, response_id, policy, end_user, version_id
            )
            select
                l.project_id, l.request_hash, l.namespace, l.endpoint, l.model, l.provider, l.response, l.prompt_tokens, l.completion_tokens,
                l.expires_at, l.test, l.bytes, l.key_id, l.log_content, l.response_id, l.policy, l.end_user,
                l.version_id
            from latest l
            order by l.project_id, l.request_hash
            on conflict (project_id, request_hash) do update
            set response = excluded.response,
                provider = excluded.provider,
                prompt_tokens = excluded.prompt_tokens,
                completion_tokens = excluded.completion_tokens,
                -- Later than the replaced response, so that a reader of the former one notices; at most a second later, in case the clock
                -- has stepped back.
                created_at = least(
                    greatest(excluded.created_at, e.created_at + interval '1 ms'), excluded.created_at + interval '1 s'
                ),
                expires_at = excluded.expires_at,
                test = excluded.test,
                bytes = excluded.bytes,
                key_id = excluded.key_id,
                log_content = excluded.log_content,
                response_id = excluded.response_id,
                policy = excluded.policy,
                end_user = excluded.end_user,
                version_id = excluded.version_id
            returning
                e.id,
                e.project_id,
                e.request_hash,
                e.test,
                e.bytes,
                e.xmax = 0 as is_new,
                -- The size before this statement; null for an entry that another transaction has just stored and counted.
                case when e.xmax <> 0 then (select x.bytes from cache_entries x where x.id = e.id limit 1) end as former_bytes
        ),
        sized as (
            insert into cache_size_changes (project_id, kind, test, entries, bytes)
            select
                s.project_id,
                'answers',
                s.test,
                count(*) filter (where s.is_new),
                sum(case when s.is_new then s.bytes else s.bytes - coalesce(s.former_bytes, s.bytes) end)
            from stored s
            group by s.project_id, s.test
        )
        select g.at, s.id, l.at = g.at as is_latest, s.is_new
        from given g
        join latest l on l.project_id = g.project_id and l.request_hash = g.request_hash
        join stored s on s.project_id = g.project_id and s.request_hash = g.request_hash
    loop
        if kept.is_latest then
            entry_ids[kept.at] := kept.id;
        end if;
        replaces := replaces or not kept.is_new;
        place := kept.at - 1;
        entry_id := kept.id;
        return next;
    end loop;

    if replaces then
        delete from cache_prompts p
        using unnest(entry_ids, prompts) as s (entry_id, prompt)
        where p.entry_id = s.entry_id
            and s.prompt is null;
    end if;
    -- Entries without a prompt are found by the exact request only.
    if cardinality(array_positions(prompts, null)) < cardinality(prompts) then
        perform store_prompts(entry_ids, project_ids, context_hashes, normalized_hashes, prompts, space_ids, vectors, topic_words);
    end if;
end;
$$;

comment on function store_cached_responses(
    bigint[], integer[], boolean[], bytea[], text[], text[], text[], text[], bytea, integer[], integer[], integer[], integer[], bytea[], bytea[],
    text[], integer[], text[], text[], bigint[], text[], text[], text[], text[], text[]
) is
    'Stores or replaces the responses to requests. The lists have one item per response; responses (UTF-8) are concatenated. With a prompt, an entry can also be found by its normalized text (in equal context), and with a space and a vector by similar prompts: by its first three topic words, too, which are arrays of hashes as text, the rarest first. A space without a vector: it comes later, by add_prompt_vectors(). Whose a response is, the last one who asked says: each entry keeps that key, its log_content as it was, and the end user. Returns the entry id of each place, counted from 0. Nothing is stored for a project that is gone, locked, or was purged since (its cache generation differs from the given one; null skips this check), or under a version (name@version; null: none) that is not the newest of its name. A policy is the version of the hook''s rules under which the response passed.';

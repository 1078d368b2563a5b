create or replace function store_answers(
    project_ids bigint[],
    generations integer[],
    tests boolean[],
    request_hashes bytea,
    namespaces text[],
    endpoints text[],
    models text[],
    providers text[],
    responses bytea,
    response_lengths integer[],
    prompt_tokens integer[],
    completion_tokens integer[],
    ttls_seconds integer[],
    context_hashes bytea,
    normalized_hashes bytea,
    prompts text[],
    space_ids integer[],
    vectors text[]
)
returns table (place integer, entry_id bigint)
language plpgsql
volatile
rows 50
set search_path = public, pg_temp
-- As in admit: planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    -- Groups up to about this size are compared exactly, through a btree, at no more cost than with lists. Every sixteenth prompt
    -- is counted: most stores count nothing, and small groups have no counter.
    sampled_group_size constant integer := 512 / 16;
    kept record;
    to_lists bigint[] := '{}';
begin
    -- A crash may lose the last moment's entries, which are then misses.
    perform set_config('synchronous_commit', 'off', true);

    for kept in
        with given as materialized (
            select
                g.*,
                substring(request_hashes from (g.at::integer - 1) * 32 + 1 for 32) as request_hash,
                sum(g.response_length) over (order by g.at) - g.response_length as response_start
            from unnest(
                project_ids, generations, tests, namespaces, endpoints, models, providers, response_lengths, prompt_tokens,
                completion_tokens, ttls_seconds, prompts, space_ids, vectors
            ) with ordinality as g (
                project_id, generation, test, namespace, endpoint, model, provider, response_length, prompt_tokens,
                completion_tokens, ttl_seconds, prompt, space_id, vector, at
            )
        ),
        -- Locked, so that a purge runs entirely before or after. A project that another transaction has locked is skipped, so
        -- that it delays no other.
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
        latest as materialized (
            select distinct on (g.project_id, g.request_hash)
                g.*,
                convert_from(substring(responses from g.response_start::integer + 1 for g.response_length), 'utf8') as response,
                now() + make_interval(
                    secs => least(g.ttl_seconds, p.max_cache_ttl_seconds, case when g.test then 86400 end)
                ) as expires_at,
                substring(context_hashes from (g.at::integer - 1) * 32 + 1 for 32) as context_hash,
                substring(normalized_hashes from (g.at::integer - 1) * 32 + 1 for 32) as normalized_hash
            from given g
            join open_projects p on p.id = g.project_id
            where g.generation is null or g.generation = p.cache_generation
            order by g.project_id, g.request_hash, g.at desc
        ),
        -- Read before they are replaced, to correct the project's count of bytes.
        replaced as materialized (
            select l.project_id, l.request_hash, e.bytes
            from latest l
            cross join lateral (
                select x.bytes
                from cache_entries x
                where x.project_id = l.project_id
                    and x.request_hash = l.request_hash
                limit 1
            ) e
        ),
        stored as (
            insert into cache_entries as e (
                project_id, request_hash, namespace, endpoint, model, provider, response, prompt_tokens, completion_tokens, expires_at,
                test, bytes
            )
            select
                l.project_id, l.request_hash, l.namespace, l.endpoint, l.model, l.provider, l.response, l.prompt_tokens, l.completion_tokens,
                l.expires_at, l.test,
                -- Row headers, hashes and index entries; the prompt, and its vector at two bytes a number.
                300 + l.response_length + coalesce(octet_length(l.prompt) + 200, 0) + coalesce(1024 + octet_length(l.vector) / 4, 0)
            from latest l
            order by l.project_id, l.request_hash
            on conflict (project_id, request_hash) do update
            set response = excluded.response,
                provider = excluded.provider,
                prompt_tokens = excluded.prompt_tokens,
                completion_tokens = excluded.completion_tokens,
                created_at = excluded.created_at,
                expires_at = excluded.expires_at,
                test = excluded.test,
                bytes = excluded.bytes
            returning e.id, e.project_id, e.request_hash, e.test, e.bytes, e.xmax = 0 as is_new
        ),
        sized as (
            insert into cache_size_changes (project_id, kind, test, entries, bytes)
            select
                s.project_id,
                'answers',
                s.test,
                count(*) filter (where s.is_new),
                -- An entry that another transaction has just stored is counted there.
                sum(case when s.is_new then s.bytes else s.bytes - coalesce(r.bytes, s.bytes) end)
            from stored s
            left join replaced r on r.project_id = s.project_id and r.request_hash = s.request_hash
            group by s.project_id, s.test
        ),
        -- How each prompt was stored before, and whether its group is large by now.
        placed as materialized (
            select
                s.id,
                l.*,
                l.vector::halfvec as embedding,
                hashtextextended(encode(l.context_hash, 'hex'), l.project_id) as group_key,
                b.entry_id is null or b.space_id is distinct from l.space_id as is_new,
                case
                    when b.entry_id is null or b.space_id is distinct from l.space_id
                        then sp.has_lists and (g.sampled >= sampled_group_size or g.lists is not null)
                    else b.in_lists
                end as in_lists,
                b.in_lists and b.space_id = l.space_id and b.normalized_hash = l.normalized_hash as is_in_place
            from stored s
            join latest l on l.project_id = s.project_id and l.request_hash = s.request_hash
            -- Limits make these index scans, whatever the planner's estimate of the table's size.
            left join lateral (
                select x.entry_id, x.space_id, x.in_lists, x.normalized_hash
                from cache_prompts x
                where x.entry_id = s.id
                limit 1
            ) b on true
            left join embedding_spaces sp on sp.id = l.space_id
            left join lateral (
                select x.sampled, x.lists
                from cache_groups x
                where x.group_key = hashtextextended(encode(l.context_hash, 'hex'), l.project_id)
                    and x.space_id = l.space_id
                limit 1
            ) g on true
        ),
        prompted as (
            insert into cache_prompts as p (
                entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, in_lists, created_at, expires_at
            )
            select
                l.id, l.project_id, l.context_hash, l.normalized_hash, l.prompt, l.space_id, l.embedding, coalesce(l.in_lists, false), now(),
                l.expires_at
            from placed l
            where l.prompt is not null
            order by l.id
            on conflict (entry_id) do update
            set context_hash = excluded.context_hash,
                normalized_hash = excluded.normalized_hash,
                prompt = excluded.prompt,
                space_id = excluded.space_id,
                embedding = excluded.embedding,
                in_lists = excluded.in_lists,
                created_at = excluded.created_at,
                expires_at = excluded.expires_at
        ),
        unprompted as (
            delete from cache_prompts p
            using placed l
            where p.entry_id = l.id
                and l.prompt is null
        ),
        counted as (
            insert into cache_groups as g (group_key, space_id, project_id, sampled)
            select l.group_key, l.space_id, min(l.project_id), count(*)
            from placed l
            where l.prompt is not null
                and l.space_id is not null
                and l.is_new
                and not coalesce(l.in_lists, false)
                and l.id % 16 = 0
            group by l.group_key, l.space_id
            order by l.group_key, l.space_id
            on conflict (group_key, space_id) do update
            set sampled = g.sampled + excluded.sampled
        )
        select
            given.at,
            l.id,
            l.at = given.at and l.prompt is not null and l.in_lists and l.is_in_place is not true as is_new_to_lists
        from given
        join placed l on l.project_id = given.project_id and l.request_hash = given.request_hash
    loop
        if kept.is_new_to_lists then
            to_lists := to_lists || kept.id;
        end if;
        place := kept.at - 1;
        entry_id := kept.id;
        return next;
    end loop;
    if cardinality(to_lists) > 0 then
        perform add_to_cache_lists(to_lists);
    end if;
end;
$$;

comment on function store_answers(
    bigint[], integer[], boolean[], bytea, text[], text[], text[], text[], bytea, integer[], integer[], integer[], integer[], bytea, bytea, text[],
    integer[], text[]
) is
    'Stores or replaces the responses to requests. The lists have one item per response; hashes (32 bytes each) and responses (UTF-8) are concatenated. With a prompt, an entry can also be found by its normalized text (in equal context), and with a space and a vector by similar prompts. Returns the entry id of each place, counted from 0. Nothing is stored for a project that is gone, locked, or was purged since (its cache generation differs from the given one; null skips this check).';

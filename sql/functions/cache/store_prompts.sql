create or replace function store_prompts(
    entry_ids bigint[],
    project_ids bigint[],
    context_hashes bytea[],
    normalized_hashes bytea[],
    prompts text[],
    space_ids integer[],
    vectors text[],
    topic_words text[] default null
)
returns void
language plpgsql
volatile
set search_path = model_proxy, public, pg_temp
-- As in admit(): planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    -- Groups up to about this size are compared exactly, through a B-tree, at no more cost than with lists. Every sixteenth prompt is
    -- counted: most calls count nothing, and small groups have no counter.
    sampled_group_size constant integer := 512 / 16;
    to_lists bigint[];
begin
    with given as (
        select
            g.entry_id,
            g.project_id,
            g.prompt,
            g.space_id,
            g.vector,
            g.context_hash,
            g.normalized_hash,
            g.topic_words::integer[] as topic_words
        from unnest(entry_ids, project_ids, context_hashes, normalized_hashes, prompts, space_ids, vectors, topic_words) as g (
            entry_id, project_id, context_hash, normalized_hash, prompt, space_id, vector, topic_words
        )
        where g.entry_id is not null
            and g.prompt is not null
    ),
    -- How each prompt was stored before, and whether its group is large now.
    placed as materialized (
        select
            l.entry_id,
            l.project_id,
            l.context_hash,
            l.normalized_hash,
            l.prompt,
            -- A prompt that is stored again keeps its former vector until the new one is computed.
            case when l.vector is not null or b.is_same then l.space_id end as space_id,
            coalesce(l.vector::halfvec, case when b.is_same then b.embedding end) as embedding,
            l.group_key,
            l.topic_words,
            e.created_at,
            e.expires_at,
            b.entry_id is null or b.space_id is distinct from l.space_id as is_new,
            case
                when b.entry_id is null or b.space_id is distinct from l.space_id
                    then sp.has_lists and (g.sampled >= sampled_group_size or g.lists is not null)
                else b.in_lists and (l.vector is not null or b.is_same)
            end as in_lists,
            b.in_lists and b.is_same as is_in_place
        from (select g.*, hashtextextended(encode(g.context_hash, 'hex'), g.project_id) as group_key from given g) l
        -- The limits force index scans, whatever table size the planner estimates.
        cross join lateral (
            select x.created_at, x.expires_at
            from cache_entries x
            where x.id = l.entry_id
            limit 1
        ) e
        left join lateral (
            select
                x.entry_id, x.space_id, x.embedding, x.in_lists,
                x.space_id = l.space_id and x.normalized_hash = l.normalized_hash as is_same
            from cache_prompts x
            where x.entry_id = l.entry_id
            limit 1
        ) b on true
        left join embedding_spaces sp on sp.id = l.space_id and l.vector is not null
        left join lateral (
            select x.sampled, x.lists
            from cache_groups x
            where x.group_key = l.group_key
                and x.space_id = l.space_id
            limit 1
        ) g on true
    ),
    prompted as (
        insert into cache_prompts as p (
            entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, in_lists, created_at, expires_at,
            word1, word2, word3
        )
        select
            l.entry_id, l.project_id, l.context_hash, l.normalized_hash, l.prompt, l.space_id, l.embedding, coalesce(l.in_lists, false),
            l.created_at, l.expires_at, l.topic_words[1], l.topic_words[2], l.topic_words[3]
        from placed l
        order by l.entry_id
        on conflict (entry_id) do update
        set context_hash = excluded.context_hash,
            normalized_hash = excluded.normalized_hash,
            prompt = excluded.prompt,
            space_id = excluded.space_id,
            embedding = excluded.embedding,
            in_lists = excluded.in_lists,
            created_at = excluded.created_at,
            expires_at = excluded.expires_at,
            word1 = excluded.word1,
            word2 = excluded.word2,
            word3 = excluded.word3
    ),
    counted as (
        insert into cache_groups as g (group_key, space_id, project_id, sampled)
        select l.group_key, l.space_id, min(l.project_id), count(*)
        from placed l
        where l.space_id is not null
            and l.is_new
            and not coalesce(l.in_lists, false)
            and l.entry_id % 16 = 0
        group by l.group_key, l.space_id
        order by l.group_key, l.space_id
        on conflict (group_key, space_id) do update
        set sampled = g.sampled + excluded.sampled
    )
    select array_agg(l.entry_id) filter (where l.in_lists and l.is_in_place is not true)
    into to_lists
    from placed l;

    if to_lists is not null then
        perform add_to_cache_lists(to_lists);
    end if;
end;
$$;

comment on function store_prompts(bigint[], bigint[], bytea[], bytea[], text[], integer[], text[], text[]) is
    'The second half of store_cached_responses(): stores or replaces the prompts by which entries are also found. The lists have one item per entry. A null entry or prompt is skipped. A space without a vector: the vector is added later. Topic words are arrays of integers as text.';

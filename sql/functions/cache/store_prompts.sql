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
begin
    insert into cache_prompts as p (
        entry_id, project_id, context_hash, normalized_hash, prompt, space_id, embedding, created_at, expires_at, word1, word2, word3
    )
    select
        l.entry_id,
        l.project_id,
        l.context_hash,
        l.normalized_hash,
        l.prompt,
        case when l.vector is not null or b.embedding is not null then l.space_id end,
        coalesce(l.vector::halfvec, b.embedding),
        e.created_at,
        e.expires_at,
        l.topic_words[1],
        l.topic_words[2],
        l.topic_words[3]
    from (
        select
            g.entry_id, g.project_id, g.context_hash, g.normalized_hash, g.prompt, g.space_id, g.vector,
            g.topic_words::integer[] as topic_words
        from unnest(entry_ids, project_ids, context_hashes, normalized_hashes, prompts, space_ids, vectors, topic_words) as g (
            entry_id, project_id, context_hash, normalized_hash, prompt, space_id, vector, topic_words
        )
        where g.entry_id is not null
            and g.prompt is not null
    ) l
    -- The limits force index scans, whatever table size the planner estimates.
    cross join lateral (
        select x.created_at, x.expires_at
        from cache_entries x
        where x.id = l.entry_id
        limit 1
    ) e
    -- A prompt that is stored again keeps its former vector until the new one is computed.
    left join lateral (
        select x.embedding, x.space_id = l.space_id and x.normalized_hash = l.normalized_hash as is_same
        from cache_prompts x
        where x.entry_id = l.entry_id
            and l.vector is null
        limit 1
    ) b on b.is_same
    order by l.entry_id
    on conflict (entry_id) do update
    set context_hash = excluded.context_hash,
        normalized_hash = excluded.normalized_hash,
        prompt = excluded.prompt,
        space_id = excluded.space_id,
        embedding = excluded.embedding,
        created_at = excluded.created_at,
        expires_at = excluded.expires_at,
        word1 = excluded.word1,
        word2 = excluded.word2,
        word3 = excluded.word3;
end;
$$;

comment on function store_prompts(bigint[], bigint[], bytea[], bytea[], text[], integer[], text[], text[]) is
    'The second half of store_cached_responses(): stores or replaces the prompts by which entries are also found. The lists have one item per entry. A null entry or prompt is skipped. A space without a vector: the vector is added later. Topic words are arrays of integers as text.';

create or replace function add_prompt_vectors(
    entry_ids bigint[],
    project_ids bigint[],
    context_hashes bytea[],
    normalized_hashes bytea[],
    space_ids integer[],
    vectors text[]
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- As in store_cached_responses().
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    -- By position; null if the prompt of the vector no longer exists.
    prompts text[];
    topic_words text[];
begin
    perform set_config('synchronous_commit', 'off', true);

    -- Locks the prompts in the order of store_prompts(), so that prompts that are purged or replaced meanwhile are not restored.
    with waiting as materialized (
        select
            x.entry_id, x.project_id, x.context_hash, x.normalized_hash, x.prompt, array[x.word1, x.word2, x.word3]::text as topic_words
        from cache_prompts x
        where x.entry_id = any (entry_ids)
            and x.space_id is null
            and x.expires_at > now()
        order by x.entry_id
        for no key update
    )
    select array_agg(w.prompt order by g.at), array_agg(w.topic_words order by g.at)
    into prompts, topic_words
    from unnest(entry_ids, project_ids, context_hashes, normalized_hashes) with ordinality as g (
        entry_id, project_id, context_hash, normalized_hash, at
    )
    left join waiting w on w.entry_id = g.entry_id
        and w.project_id = g.project_id
        and w.context_hash = g.context_hash
        and w.normalized_hash = g.normalized_hash
        and g.at = array_position(entry_ids, g.entry_id);

    perform store_prompts(entry_ids, project_ids, context_hashes, normalized_hashes, prompts, space_ids, vectors, topic_words);
end;
$$;

comment on function add_prompt_vectors(bigint[], bigint[], bytea[], bytea[], integer[], text[]) is
    'Adds vectors that were not ready when store_cached_responses() stored their prompts. The lists have one item per vector. A vector is skipped if the entry was deleted or has expired, or its prompt belongs to another project, has another context or text, or has a vector.';

create or replace function record_semantic_hits(
    project_ids bigint[],
    request_ids text[],
    asked_hashes text[],
    entry_hashes text[],
    reasons text[],
    similarities double precision[],
    are_shadows boolean[],
    prompt_tokens integer[],
    completion_tokens integer[],
    saved_usd numeric[],
    differences text[],
    sealed_wordings text[]
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- As in admit: planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
    perform set_config('synchronous_commit', 'off', true);

    insert into semantic_hits as h (
        project_id, request_id, asked_hash, entry_hash, reason, similarity, is_shadow, prompt_tokens, completion_tokens, saved_usd,
        difference, sealed_wording
    )
    select distinct on (g.project_id, g.request_id)
        g.project_id, g.request_id, decode(g.asked_hash, 'hex'), decode(g.entry_hash, 'hex'), g.reason, g.similarity, g.is_shadow,
        g.prompt_tokens, g.completion_tokens, g.saved_usd, g.difference,
        -- Wordings sealed before the setting was turned off are dropped.
        case when p.log_content = 'sealed' then decode(g.sealed_wording, 'hex') end
    from unnest(
        project_ids, request_ids, asked_hashes, entry_hashes, reasons, similarities, are_shadows, prompt_tokens, completion_tokens, saved_usd,
        differences, sealed_wordings
    ) with ordinality as g (
        project_id, request_id, asked_hash, entry_hash, reason, similarity, is_shadow, prompt_tokens, completion_tokens, saved_usd,
        difference, sealed_wording, at
    )
    -- The project may have been deleted.
    join projects p on p.id = g.project_id
    order by g.project_id, g.request_id, g.at desc
    on conflict (project_id, request_id) do update
    set served_at = now(),
        asked_hash = excluded.asked_hash,
        entry_hash = excluded.entry_hash,
        reason = excluded.reason,
        similarity = excluded.similarity,
        is_shadow = excluded.is_shadow,
        prompt_tokens = excluded.prompt_tokens,
        completion_tokens = excluded.completion_tokens,
        saved_usd = excluded.saved_usd,
        difference = excluded.difference,
        sealed_wording = excluded.sealed_wording;
end;
$$;

comment on function record_semantic_hits(
    bigint[], text[], text[], text[], text[], double precision[], boolean[], integer[], integer[], numeric[], text[], text[]
) is 'Records semantic hits and near misses, with one item per request in each list, so that people can say whether the response was, or would have been, right. Hashes and sealed wordings in hex.';

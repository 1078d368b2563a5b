create or replace function record_semantic_hits(hits json) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- As in admit(): planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
    perform set_config('synchronous_commit', 'off', true);

    insert into semantic_hits as h (
        project_id, request_id, asked_hash, entry_hash, reason, similarity, is_shadow, prompt_tokens, completion_tokens, saved_usd,
        difference, sealed_wording, key_id, end_user, scope_hash
    )
    select distinct on (g.project_id, g.request_id, g.scope_hash)
        g.project_id, g.request_id, g.asked_hash, g.entry_hash, g.reason, g.similarity, g.is_shadow, g.prompt_tokens, g.completion_tokens,
        g.saved_usd, g.difference,
        -- Omits questions that were sealed before the setting was turned off.
        case when coalesce(k.log_content, p.log_content) = 'sealed' then g.sealed_wording end,
        g.key_id,
        g.end_user,
        coalesce(g.scope_hash, '')
    from json_populate_recordset(null::semantic_hits, hits) with ordinality as g
    -- The project may have been deleted.
    join projects p on p.id = g.project_id
    left join api_keys k on k.id = g.key_id
    order by g.project_id, g.request_id, g.scope_hash, g.ordinality desc
    on conflict (project_id, request_id, scope_hash) do update
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
        sealed_wording = excluded.sealed_wording,
        key_id = excluded.key_id,
        end_user = excluded.end_user;
end;
$$;

comment on function record_semantic_hits(json) is 'Records semantic hits and near misses, objects with the columns of semantic_hits, so that people can say whether the response was, or would have been, right.';

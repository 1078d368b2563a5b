create or replace function record_usage(
    recorded_ats timestamptz[],
    request_ids text[],
    project_ids bigint[],
    key_ids bigint[],
    endpoints text[],
    models text[],
    providers text[],
    cache_results text[],
    statuses smallint[],
    streamed boolean[],
    prompt_tokens integer[],
    cached_prompt_tokens integer[],
    completion_tokens integer[],
    tokens_saved integer[],
    costs_usd numeric[],
    saved_usd numeric[],
    latencies_ms real[],
    durations_ms real[],
    error_codes text[],
    error_messages text[],
    upstream_statuses smallint[],
    upstream_messages text[],
    attempts smallint[],
    asked_models text[],
    fallbacks text[],
    cache_reasons text[],
    cache_ids text[],
    similarities real[],
    completion_tokens_saved integer[],
    admissions_ms real[],
    lookups_ms real[],
    embeds_ms real[],
    upstreams_ms real[],
    first_chunks_ms real[],
    end_users text[],
    provider_keys text[],
    presumed boolean[],
    tags jsonb[],
    tags_at integer[],
    sums json,
    spending json,
    batch uuid
)
returns timestamptz
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    -- A budget that is being set adds up what is recorded by then: what follows counts it, or is counted by it.
    perform pg_advisory_xact_lock_shared(hashtext('model_proxy put_budget'));

    insert into batch_ledger (id) values (batch) on conflict do nothing;
    if not found then
        return clock_timestamp();
    end if;

    -- Arrays take half the work of JSON. One that is empty leaves its column null.
    insert into usage_records (
        recorded_at, request_id, project_id, key_id, endpoint, model, provider, cache_result, status, streamed, prompt_tokens,
        cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, error_code, error_message,
        upstream_status, upstream_message, attempts, asked_model, fallbacks, cache_reason, cache_id, similarity, completion_tokens_saved,
        admission_ms, lookup_ms, embed_ms, upstream_ms, first_chunk_ms, end_user, provider_keys, presumed, tags
    )
    select *
    from unnest(
        recorded_ats,
        request_ids,
        project_ids,
        key_ids,
        endpoints,
        models,
        providers,
        cache_results,
        statuses,
        streamed,
        prompt_tokens,
        cached_prompt_tokens,
        completion_tokens,
        tokens_saved,
        costs_usd,
        saved_usd,
        latencies_ms,
        durations_ms,
        error_codes,
        error_messages,
        upstream_statuses,
        upstream_messages,
        attempts,
        asked_models,
        fallbacks,
        cache_reasons,
        cache_ids,
        similarities,
        completion_tokens_saved,
        admissions_ms,
        lookups_ms,
        embeds_ms,
        upstreams_ms,
        first_chunks_ms,
        end_users,
        provider_keys,
        presumed,
        array(select tags[has.at] from unnest(tags_at) as has (at))
    );

    -- Summed by the proxy: a busy key's thousand records become a few rows, which roll_up_usage() adds to the hourly sums.
    insert into usage_pending
    select *
    from json_populate_recordset(null::usage_pending, sums);

    -- In the same transaction, so that what is recorded is what is spent. What was not reserved concerns projects that have budgets by now.
    if spending is not null then
        perform settle_spending(json_agg(d))
        from json_to_recordset(spending) as d (
            id uuid, project_id bigint, key_id bigint, model text, tags jsonb, usd numeric, tokens bigint, at timestamptz
        )
        join projects p on p.id = d.project_id
        where d.id is not null
            or p.has_budgets
        having count(*) > 0;
    end if;

    -- At most once a minute per key: a row that every batch wrote would be a hot spot.
    update api_keys k
    set last_used_at = used.at
    from (
        select u.key_id, max(u.recorded_at) as at
        from unnest(key_ids, recorded_ats) as u (key_id, recorded_at)
        group by u.key_id
    ) used
    where k.id = used.key_id
        and (k.last_used_at is null or k.last_used_at < used.at - interval '1 minute');
    return clock_timestamp();
end;
$$;

comment on function record_usage(
    timestamptz[], text[], bigint[], bigint[], text[], text[], text[], text[], smallint[], boolean[], integer[], integer[], integer[], integer[],
    numeric[], numeric[], real[], real[], text[], text[], smallint[], text[], smallint[], text[], text[], text[], text[], real[],
    integer[], real[], real[], real[], real[], real[], text[], text[], boolean[], jsonb[], integer[], json, json, uuid
) is 'Appends a batch of usage records, one array per column of usage_records, and their sums, rows of usage_pending; tags: those that there are, tags_at: for each record, which of them; spending: what they cost, which settle_spending() takes out of budgets; updates when each key was last used. Idempotent by batch. Returns the time, so that a proxy knows how wrong its own clock is.';

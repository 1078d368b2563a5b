create or replace function pending_sums(of_record usage_records, times integer) returns usage_pending
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select row(
        of_record.project_id,
        date_bin('15 minutes', of_record.recorded_at, 'epoch'),
        of_record.key_id,
        of_record.endpoint,
        of_record.model,
        coalesce(of_record.provider, ''),
        coalesce(of_record.cache_result, ''),
        of_record.status / 100,
        times,
        times * of_record.prompt_tokens,
        times * of_record.cached_prompt_tokens,
        times * of_record.completion_tokens,
        times * of_record.tokens_saved,
        times * of_record.cost_usd,
        times * of_record.saved_usd,
        times * of_record.latency_ms,
        times * of_record.duration_ms,
        case when of_record.duration_ms >= 1000 then times else 0 end,
        floor(4 * ln(greatest(of_record.latency_ms, 0.01)::double precision) / ln(2::double precision)),
        of_record.tags,
        case of_record.cache_result when 'MISS' then coalesce(of_record.cache_reason, '') end,
        of_record.end_user,
        of_record.provider_keys
    )::usage_pending;
$$;

comment on function pending_sums(usage_records, integer) is
    'A record as a row of usage_pending, with its amounts multiplied: 1 adds the record to the sums, -1 subtracts it. A changed record is subtracted with its former values and added with its new ones.';

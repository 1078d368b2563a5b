-- Usage of single records, with the columns of usage_pending.

create or replace view usage_per_record with (security_invoker = true) as
select
    project_id,
    recorded_at as at,
    key_id,
    endpoint,
    model,
    coalesce(provider, '') as provider,
    coalesce(cache_result, '') as cache_result,
    (status / 100)::smallint as status_class,
    1::bigint as requests,
    prompt_tokens,
    cached_prompt_tokens,
    completion_tokens,
    tokens_saved,
    cost_usd,
    saved_usd,
    latency_ms,
    duration_ms,
    (duration_ms >= 1000)::integer::bigint as slow_requests,
    floor(4 * ln(greatest(latency_ms, 0.01)::double precision) / ln(2::double precision))::smallint as bucket,
    tags,
    case cache_result when 'MISS' then coalesce(cache_reason, '') end as miss_reason,
    end_user,
    provider_keys
from usage_records;

comment on view usage_per_record is 'Each record as a row of usage_pending, for usage that has no sums of its own.';

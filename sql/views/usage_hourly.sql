-- Usage by hour, including rows that are not summed yet: several rows may have the same key.

create or replace view usage_hourly with (security_invoker = true) as
select
    project_id, at as hour, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens, cached_prompt_tokens,
    completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
from usage_sums
where grain = 'hour'
    and project_id > 0
union all
select
    project_id, date_trunc('hour', at, 'UTC'), key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens,
    cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
from usage_pending;

comment on view usage_hourly is 'All usage of projects by hour, up to the last record; readers must add rows up.';
comment on column usage_hourly.hour is 'Beginning of the hour.';

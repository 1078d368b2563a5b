-- Usage by the hour, including rows not summed yet: several rows may be about the same.

create or replace view usage_hourly with (security_invoker = true) as
select
    project_id, at as hour, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens, cached_prompt_tokens,
    completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
from usage_sums
where grain = 'hour'
    and project_id <> 0
union all
select
    project_id, date_trunc('hour', at, 'UTC'), key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens,
    cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
from usage_pending;

comment on view usage_hourly is 'All usage of projects by hour, up to the last record; readers must add rows up.';
comment on column usage_hourly.project_id is 'As in usage_sums.';
comment on column usage_hourly.hour is 'Beginning of the hour.';
comment on column usage_hourly.key_id is 'As in usage_sums.';
comment on column usage_hourly.endpoint is 'As in usage_sums.';
comment on column usage_hourly.model is 'As in usage_sums.';
comment on column usage_hourly.provider is 'As in usage_sums.';
comment on column usage_hourly.cache_result is 'As in usage_sums.';
comment on column usage_hourly.status_class is 'As in usage_sums.';
comment on column usage_hourly.requests is 'As in usage_sums.';
comment on column usage_hourly.prompt_tokens is 'As in usage_sums.';
comment on column usage_hourly.cached_prompt_tokens is 'As in usage_sums.';
comment on column usage_hourly.completion_tokens is 'As in usage_sums.';
comment on column usage_hourly.tokens_saved is 'As in usage_sums.';
comment on column usage_hourly.cost_usd is 'As in usage_sums.';
comment on column usage_hourly.saved_usd is 'As in usage_sums.';
comment on column usage_hourly.latency_ms is 'As in usage_sums.';
comment on column usage_hourly.duration_ms is 'As in usage_sums.';

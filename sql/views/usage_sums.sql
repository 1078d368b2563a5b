-- Hourly sums, including rows not summed yet: several rows may be about the same.

create or replace view usage_sums with (security_invoker = true) as
select
    project_id, hour, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens,
    cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
from usage_hourly
union all
select
    project_id, hour, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens,
    cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms
from usage_pending;

comment on view usage_sums is 'All usage by hour, up to the last record; readers must add rows up.';
comment on column usage_sums.project_id is 'As in usage_hourly.';
comment on column usage_sums.hour is 'As in usage_hourly.';
comment on column usage_sums.key_id is 'As in usage_hourly.';
comment on column usage_sums.endpoint is 'As in usage_hourly.';
comment on column usage_sums.model is 'As in usage_hourly.';
comment on column usage_sums.provider is 'As in usage_hourly.';
comment on column usage_sums.cache_result is 'As in usage_hourly.';
comment on column usage_sums.status_class is 'As in usage_hourly.';
comment on column usage_sums.requests is 'As in usage_hourly.';
comment on column usage_sums.prompt_tokens is 'As in usage_hourly.';
comment on column usage_sums.cached_prompt_tokens is 'As in usage_hourly.';
comment on column usage_sums.completion_tokens is 'As in usage_hourly.';
comment on column usage_sums.tokens_saved is 'As in usage_hourly.';
comment on column usage_sums.cost_usd is 'As in usage_hourly.';
comment on column usage_sums.saved_usd is 'As in usage_hourly.';
comment on column usage_sums.latency_ms is 'As in usage_hourly.';
comment on column usage_sums.duration_ms is 'As in usage_hourly.';

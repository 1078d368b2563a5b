-- Hourly counts of latencies, including rows not summed yet: several rows may be about the same.

create or replace view latency_sums with (security_invoker = true) as
select project_id, hour, cache_result, bucket, requests
from latency_hourly
union all
select project_id, hour, cache_result, bucket, requests
from usage_pending;

comment on view latency_sums is 'All latencies by hour, up to the last record; readers must add rows up.';
comment on column latency_sums.project_id is 'As in latency_hourly.';
comment on column latency_sums.hour is 'As in latency_hourly.';
comment on column latency_sums.cache_result is 'As in latency_hourly.';
comment on column latency_sums.bucket is 'As in latency_hourly.';
comment on column latency_sums.requests is 'As in latency_hourly.';

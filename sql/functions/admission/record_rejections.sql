create or replace function record_rejections(reasons text[], counts bigint[]) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into rejections_hourly as h (hour, reason, requests)
    select date_trunc('hour', now(), 'UTC'), r.reason, r.requests
    from unnest(reasons, counts) as r (reason, requests)
    -- A fixed order makes two proxies wait for each other instead of deadlocking.
    order by r.reason
    on conflict (hour, reason) do update
    set requests = h.requests + excluded.requests;
$$;

comment on function record_rejections(text[], bigint[]) is 'Adds the requests that a proxy rejected since its last call to the sums of this hour; reasons must be distinct.';

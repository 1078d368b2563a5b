create or replace function record_rejections(reasons text[], key_hashes text[], counts bigint[]) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into rejections_hourly as h (hour, reason, project_id, key_id, requests)
    select date_trunc('hour', now(), 'UTC'), r.reason, coalesce(k.project_id, 0), coalesce(k.replaced_by, k.id, 0), sum(r.requests)
    from unnest(reasons, key_hashes, counts) as r (reason, key_hash, requests)
    left join api_keys k on k.key_hash = decode(r.key_hash, 'hex')
    group by 2, 3, 4
    -- A fixed order makes two proxies wait for each other instead of deadlocking.
    order by 2, 3, 4
    on conflict (hour, reason, project_id, key_id) do update
    set requests = h.requests + excluded.requests;
$$;

comment on function record_rejections(text[], text[], bigint[]) is 'Adds the requests that a proxy rejected since its last call to the sums of this hour, by reason and key (hex SHA-256; empty: none). Keys that were never issued count as none.';

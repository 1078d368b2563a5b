create or replace function refund_requests(project_ids bigint[], key_types text[], months date[], counts integer[], batch uuid)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- As in admit(): planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
begin
    perform set_config('synchronous_commit', 'off', true);

    -- As in admit(): one locked counter must not keep the others locked.
    perform set_config('lock_timeout', '40ms', true);

    insert into applied_batches (id) values (batch) on conflict do nothing;
    if not found then
        return;
    end if;

    -- Locks in the order of admit(), to prevent deadlocks.
    perform 1
    from monthly_counters c
    where (c.project_id, c.key_type, c.month) in (select * from unnest(project_ids, key_types, months))
    order by c.project_id, c.key_type, c.month
    for update;

    update monthly_counters c
    set requests = greatest(0, c.requests - r.requests)
    from (
        select project_id, key_type, month, sum(requests) as requests
        from unnest(project_ids, key_types, months, counts) as r (project_id, key_type, month, requests)
        group by project_id, key_type, month
    ) r
    where c.project_id = r.project_id
        and c.key_type = r.key_type
        and c.month = r.month;
end;
$$;

comment on function refund_requests(bigint[], text[], date[], integer[], uuid) is
    'Refunds reserved requests that were rejected after admission or failed, in the month in which they were reserved. Idempotent by batch. A locked counter fails the batch within 40 ms (55P03).';

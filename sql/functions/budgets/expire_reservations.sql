create or replace function expire_reservations() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    expired uuid[] := array(select distinct r.id from budget_reservations r where r.expires_at < now() limit 1000);
begin
    if cardinality(expired) = 0 then
        return;
    end if;

    -- Locks in the order of reserve_spending(), to prevent deadlocks.
    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (select r.budget_id, r.begins from budget_reservations r where r.id = any (expired))
    order by c.budget_id, c.begins
    for update;

    -- Releases doubtful amounts whose cost was not reported for hours. They are not counted as spent.
    with released as (
        delete from budget_reservations r
        where r.id = any (expired)
            and r.expires_at < now()
            and r.doubtful_at is not null
        returning r.budget_id, r.begins, r.amount
    ),
    summed as (
        select r.budget_id, r.begins, sum(r.amount) as amount
        from released r
        group by r.budget_id, r.begins
    )
    update budget_periods c
    set reserved = greatest(0, c.reserved - s.amount)
    from summed s
    where c.budget_id = s.budget_id
        and c.begins = s.begins;

    -- The process of these requests ended or lost the database. Their upper bound stays reserved as doubtful.
    with doubtful as (
        update budget_reservations r
        set doubtful_at = now(),
            expires_at = now() + doubtful_reservation_ttl()
        from budgets b
        where r.id = any (expired)
            and r.expires_at < now()
            and r.doubtful_at is null
            and b.id = r.budget_id
        returning r.*, case b.unit when 'usd' then r.amount end as usd
    ),
    gone as (
        select distinct on (d.id) d.*, max(d.usd) over (partition by d.id) as most_usd
        from doubtful d
        order by d.id, d.budget_id
    ),
    recorded as (
        insert into usage_records (
            recorded_at, project_id, request_id, status, error_code, endpoint, model, streamed, prompt_tokens, cached_prompt_tokens,
            completion_tokens, tokens_saved, cost_usd, cost_estimated, doubtful_usd, saved_usd, latency_ms, duration_ms, key_id, tags
        )
        select
            now(), g.project_id, g.request_id, 500, 'proxy_stopped', g.endpoint, g.model, false, 0, 0, 0, 0, 0, 'proxy_stopped', g.most_usd, 0, 0, 0,
            g.key_id, g.tags
        from gone g
        returning *
    )
    insert into usage_pending
    select p.*
    from recorded r
    cross join lateral pending_sums(row(r.*)::usage_records, 1) p;
end;
$$;

comment on function expire_reservations() is
    'Ends the reservations of processes that ended, and releases doubtful amounts after their time. For the former, the cost bound stays reserved as doubtful, and a record names the request (proxy_stopped); its own record, if it comes, replaces that one.';

create or replace function settle_record(
    of_project bigint,
    of_request text,
    cost numeric,
    read_tokens integer default null,
    cached_tokens integer default null,
    written_tokens integer default null,
    recorded timestamptz default null,
    charged timestamptz default null,
    replaced_usd numeric default null
)
returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    was record;
    at timestamptz;
    settled usage_records;
    usd_more numeric;
    tokens_more bigint;
begin
    perform lock_spending(array[of_project]);
    -- The newest record: a client may send the same X-Request-Id twice.
    select r.*, r.tableoid as partition, r.ctid as place into was
    from usage_records r
    where r.project_id = of_project
        and (r.recorded_at = recorded or recorded is null)
        and r.request_id = of_request
        and r.cost_estimated is not null
    order by r.recorded_at desc
    limit 1
    for update;
    if not found then
        return false;
    end if;
    usd_more := greatest(-was.cost_usd, cost - coalesce(replaced_usd, was.cost_usd));

    insert into usage_pending
    select p.*
    from usage_records r
    cross join lateral pending_sums(r, -1) p
    where r.recorded_at = was.recorded_at
        and r.ctid = was.place
        and r.tableoid = was.partition;

    update usage_records r
    set prompt_tokens = coalesce(read_tokens, r.prompt_tokens),
        cached_prompt_tokens = coalesce(cached_tokens, r.cached_prompt_tokens),
        completion_tokens = coalesce(written_tokens, r.completion_tokens),
        cost_usd = r.cost_usd + usd_more,
        cost_estimated = null,
        doubtful_usd = null
    where r.recorded_at = was.recorded_at
        and r.ctid = was.place
        and r.tableoid = was.partition
    returning r.* into settled;

    insert into usage_pending
    select p.*
    from pending_sums(settled, 1) p;
    tokens_more := settled.prompt_tokens + settled.completion_tokens - was.prompt_tokens - was.completion_tokens;

    -- Locks in the order of reserve_spending(), to prevent deadlocks.
    at := coalesce(charged, was.recorded_at - was.duration_ms * interval '1 millisecond');
    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (
        select b.id, p.begins
        from matching_budgets(of_project, was.key_id, was.model, was.tags) b
        cross join lateral budget_period_at(b.per, b.time_zone, at) p
        union
        select r.budget_id, r.begins
        from doubtful_reservations(of_project, of_request, was.recorded_at) r
    )
    order by c.budget_id, c.begins
    for update;

    update budget_periods c
    set spent = greatest(0, c.spent + case b.unit when 'usd' then usd_more else tokens_more end)
    from matching_budgets(of_project, was.key_id, was.model, was.tags) b
    cross join lateral budget_period_at(b.per, b.time_zone, at) p
    where c.budget_id = b.id
        and c.begins = p.begins
        -- A total that was created after the record began at zero.
        and (b.per <> 'total' or b.created_at <= was.recorded_at);

    with released as (
        delete from budget_reservations r
        using doubtful_reservations(of_project, of_request, was.recorded_at) d
        where r.id = d.id
            and r.budget_id = d.budget_id
            and r.begins = d.begins
        returning r.budget_id, r.begins, r.amount
    )
    update budget_periods c
    set reserved = greatest(0, c.reserved - d.amount)
    from released d
    where c.budget_id = d.budget_id
        and c.begins = d.begins;

    perform raise_threshold_events(array_agg(b.id), at)
    from matching_budgets(of_project, was.key_id, was.model, was.tags) b;
    return true;
end;
$$;

comment on function settle_record(bigint, text, numeric, integer, integer, integer, timestamptz, timestamptz, numeric) is
    'Settles a record with an estimated cost: the cost in US dollars and the tokens (null: as estimated) replace the estimate in the record, the sums and the budgets, and doubtful amounts are released. recorded: the recorded_at of its record (null: the newest with this request id). charged: a moment of the budgets'' periods that bear the cost (null: when the request arrived). replaced_usd: the part of its cost that is replaced (null: all of it). False if no such record has an estimated cost.';

create or replace function settle_response(
    of_project bigint,
    response_id text,
    read_tokens integer,
    cached_tokens integer,
    written_tokens integer,
    cost numeric
)
returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    open open_responses;
    was record;
    usd_more numeric;
    tokens_more bigint;
begin
    perform lock_spending(array[of_project]);

    delete from open_responses o
    where o.project_id = of_project
        and o.id = response_id
    returning * into open;
    -- One of them: a client may send the same X-Request-Id twice.
    select r.*, r.tableoid as partition, r.ctid as place into was
    from usage_records r
    where r.project_id = of_project
        and r.recorded_at = open.recorded_at
        and r.request_id = open.request_id
        and r.presumed
    limit 1
    for update;
    if not found then
        return false;
    end if;
    usd_more := cost - open.usd;
    tokens_more := read_tokens + written_tokens - open.tokens;

    update usage_records r
    set prompt_tokens = read_tokens,
        cached_prompt_tokens = cached_tokens,
        completion_tokens = written_tokens,
        cost_usd = greatest(0, r.cost_usd + usd_more),
        presumed = null
    where r.recorded_at = was.recorded_at
        and r.ctid = was.place
        and r.tableoid = was.partition;

    -- What the sums have too much, or too little, of no further request.
    insert into usage_pending (
        project_id, at, key_id, endpoint, model, provider, cache_result, status_class, requests, prompt_tokens, cached_prompt_tokens,
        completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, bucket, tags
    )
    values (
        of_project, date_bin('15 minutes', was.recorded_at, 'epoch'), was.key_id, was.endpoint, was.model, coalesce(was.provider, ''),
        coalesce(was.cache_result, ''), was.status / 100, 0, read_tokens - was.prompt_tokens, cached_tokens - was.cached_prompt_tokens,
        written_tokens - was.completion_tokens, 0, greatest(-was.cost_usd, usd_more), 0, 0, 0,
        floor(4 * ln(greatest(was.latency_ms, 0.01)::double precision) / ln(2::double precision))::smallint, was.tags
    );

    -- In the order of reserve_spending(), for the same reason.
    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (
        select b.id, p.begins
        from budgets_of(of_project, was.key_id, was.model, was.tags) b
        cross join lateral period_of(b.per, b.time_zone, open.charged_at) p
    )
    order by c.budget_id, c.begins
    for update;

    update budget_periods c
    set spent = greatest(0, c.spent + case b.unit when 'usd' then usd_more else tokens_more end)
    from budgets_of(of_project, was.key_id, was.model, was.tags) b
    cross join lateral period_of(b.per, b.time_zone, open.charged_at) p
    where c.budget_id = b.id
        and c.begins = p.begins
        -- A total that is newer began with nothing.
        and (b.per <> 'total' or b.created_at <= was.recorded_at);

    perform tell_thresholds(array_agg(b.id), open.charged_at)
    from budgets_of(of_project, was.key_id, was.model, was.tags) b;
    return true;
end;
$$;

comment on function settle_response(bigint, text, integer, integer, integer, numeric) is
    'What a response has used, and what that cost, in place of what was presumed: in its record, the sums and the budgets. False where there is no such record.';

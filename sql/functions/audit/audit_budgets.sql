create or replace function audit_budgets(from_time timestamptz, until_time timestamptz, of_project bigint) returns setof audit_observation
language plpgsql
stable
set search_path = model_proxy, pg_temp
set jit = off
set work_mem = '64MB'
as $$
declare
    -- Sums are stored for 13 months.
    kept_from constant timestamptz := (select date_trunc('month', i.retention_clock_at, 'UTC') - interval '12 months' from installation i);
    pending_from constant timestamptz := (select coalesce(min(p.at), 'infinity') from usage_pending p);
begin
    return query
    with periods as materialized (
        select
            b as budget, b.id, b.project_id, b.key_id, b.model, b.tag, b.unit, b.per, b.created_at, b.enforced, b.amount, c.begins, p.ends,
            -- Without what was spent at a former gateway, which has no records here.
            c.spent - c.imported as settled,
            -- A total starts at zero, and may include records from around its start. The comparison therefore begins with the next quarter
            -- of an hour.
            case b.per
                when 'total' then date_bin('15 minutes', b.created_at + interval '10 seconds' + interval '15 minutes', 'epoch')
                else c.begins
            end as counted_from
        from budgets b
        join budget_periods c on c.budget_id = b.id
        cross join lateral budget_period_at(b.per, b.time_zone, case b.per when 'total' then now() else c.begins end) p
        -- Other periods are left from a former time zone of the budget.
        where p.begins = c.begins
            and p.ends > from_time
            and c.begins < until_time
            and case b.per when 'total' then b.created_at else c.begins end >= kept_from
            and (of_project is null or b.project_id = of_project)
    ),
    compared as materialized (
        select
            p.*,
            case when p.tag is null
                then summed_spending(p.budget, p.counted_from, p.ends)
                else summed_tagged_spending(p.budget, p.counted_from, p.ends)
            end
            + case when p.ends > pending_from then pending_spending(p.budget, p.counted_from, p.ends) else 0 end as recorded
        from periods p
    ),
    differing as materialized (
        select c.* from compared c where abs(c.settled - c.recorded) > 1e-6
    ),
    -- Records that may count in another period or budget than in the sums. A request reserves when it arrives, and a batch when it is
    -- created. The budget of a model bears the cost of that model, while the record has the cost of all models that were called. A sandbox
    -- response uses no tokens of a budget.
    movable as materialized (
        select
            r.project_id, r.key_id, r.model, r.tags, r.recorded_at, r.cost_usd as usd, r.prompt_tokens + r.completion_tokens::bigint as tokens,
            r.recorded_at - r.duration_ms * interval '1 millisecond' as arrived,
            r.fallbacks is not null as has_fallbacks, r.endpoint in ('batches', 'message_batches') as is_batch, r.provider = 'sandbox' as is_sandbox
        from usage_records r
        where exists (select from differing)
            and r.recorded_at >= (select min(d.counted_from) - interval '30 minutes' from differing d)
            and (of_project is null or r.project_id = of_project)
            and (
                date_bin('15 minutes', r.recorded_at - r.duration_ms * interval '1 millisecond', 'epoch') < date_bin('15 minutes', r.recorded_at, 'epoch')
                or r.fallbacks is not null
                or r.endpoint in ('batches', 'message_batches')
                or r.provider = 'sandbox'
                or exists (
                    select
                    from differing d
                    where d.per = 'total'
                        and r.recorded_at >= d.created_at - interval '2 minutes'
                        and r.recorded_at < d.counted_from
                )
            )
    ),
    bounds as (
        select
            d.*,
            -- Each amount was rounded to nine digits twice: in its record, and when it was settled.
            1e-6 + 1e-9 * (
                select coalesce(sum(s.requests), 0)
                from usage_sums s
                where s.project_id = coalesce(d.project_id, 0)
                    and s.grain = 'day'
                    and s.at >= d.counted_from - interval '1 day'
                    and s.at < d.ends
            ) as rounding,
            coalesce(m.less, 0) as less, coalesce(m.more, 0) as more,
            -- The cost of the judge is charged to budgets without key and tag, even if no request waits for the judge. Records have all
            -- other costs.
            case when d.unit = 'usd' then coalesce((
                select sum(j.usd)
                from judge_spending j
                where (d.project_id is null or j.project_id = d.project_id)
                    and j.day >= (d.counted_from at time zone 'UTC')::date - 1
                    and j.day < coalesce((nullif(d.ends, 'infinity') at time zone 'UTC')::date + 1, 'infinity')
            ), 0) else 0 end as judge
        from differing d
        cross join lateral (
            select
                sum(x.amount) filter (
                    where x.is_within and x.is_models
                        and (m.arrived < d.counted_from or m.is_batch or d.model is not null and m.has_fallbacks or d.unit = 'tokens' and m.is_sandbox)
                ) as less,
                sum(x.amount) filter (
                    where m.recorded_at >= d.ends and (m.arrived < d.ends or m.is_batch)
                        or x.is_within and not x.is_models
                        or m.recorded_at < d.counted_from
                ) as more
            from movable m
            cross join lateral (
                select
                    case d.unit when 'usd' then m.usd else m.tokens end as amount,
                    m.recorded_at >= d.counted_from and m.recorded_at < d.ends as is_within,
                    d.model is null or (model_names(d.model))[1] = any (model_names(m.model)) as is_models
            ) x
            where (d.project_id is null or m.project_id = d.project_id)
                and (d.key_id is null or m.key_id = d.key_id)
                and (d.tag is null or m.tags @> d.tag)
                and (x.is_models or m.has_fallbacks)
                and m.recorded_at >= case d.per when 'total' then d.created_at - interval '2 minutes' else d.begins end
                and m.recorded_at < case when m.is_batch then 'infinity' else d.ends + interval '1 day' end
        ) m
    )
    select
        case when b.settled < b.recorded then 'record_not_settled' else 'spent_without_record' end, b.project_id, b.key_id,
        case b.per when 'total' then b.created_at else b.begins end, format('budget_%s a %s', b.id, b.per),
        case
            when b.settled < b.recorded then format('at least %s %s, which was recorded', trim_scale(round(b.recorded - b.less - b.judge, 9)), b.unit)
            else format('at most %s %s, which was recorded', trim_scale(round(b.recorded + b.more + b.judge, 9)), b.unit)
        end,
        format('%s spent', trim_scale(b.settled))
    from bounds b
    where b.settled < b.recorded - b.less - b.judge - b.rounding
        or b.settled > b.recorded + b.more + b.judge + b.rounding;

    return query
    with exceeded as materialized (
        select b as budget, b.*, c.begins, p.ends, c.spent, s.first_set
        from budgets b
        -- What was spent at a former gateway may be imported at any time.
        join (select x.budget_id, x.begins, x.spent - x.imported as spent from budget_periods x) c on c.budget_id = b.id
        cross join lateral budget_period_at(b.per, b.time_zone, case b.per when 'total' then now() else c.begins end) p
        -- Spending from before the budget was set may exceed it.
        cross join lateral (
            select min(l.recorded_at) as first_set
            from audit_log l
            where l.project_id is not distinct from b.project_id
                and l.action = 'budget.set'
                and l.target = 'budget_' || b.id
        ) s
        where b.enforced
            and p.begins = c.begins
            and p.ends > from_time
            and c.begins < until_time
            and c.spent > b.amount
            and (of_project is null or b.project_id = of_project)
            -- While the budget was removed, spending had no limit.
            and not exists (
                select
                from audit_log l
                where l.project_id is not distinct from b.project_id
                    and l.action = 'budget.removed'
                    and l.target = 'budget_' || b.id
                    and l.recorded_at > c.begins
            )
    ),
    limited as (
        select
            e.*,
            greatest(
                e.amount,
                -- The highest amount of the budget in the period.
                (
                    select max((l.details ->> 'amount')::numeric)
                    from audit_log l
                    where l.project_id is not distinct from e.project_id
                        and l.action = 'budget.set'
                        and l.target = 'budget_' || e.id
                        and l.recorded_at >= coalesce((
                            select max(x.recorded_at)
                            from audit_log x
                            where x.project_id is not distinct from e.project_id
                                and x.action = 'budget.set'
                                and x.target = 'budget_' || e.id
                                and x.recorded_at <= e.begins
                        ), '-infinity')
                        and l.recorded_at < e.ends
                ),
                -- The cost of requests that arrived before the budget was set.
                case when e.first_set > e.begins and e.per <> 'total' then (
                    select
                        case when e.tag is null then summed_spending(e.budget, e.begins, t.until) else summed_tagged_spending(e.budget, e.begins, t.until) end
                        + pending_spending(e.budget, e.begins, t.until)
                        + coalesce((
                            select sum(case e.unit when 'usd' then r.cost_usd else r.prompt_tokens + r.completion_tokens::bigint end)
                            from usage_records r
                            where (e.project_id is null or r.project_id = e.project_id)
                                and (e.key_id is null or r.key_id = e.key_id)
                                and (e.tag is null or r.tags @> e.tag)
                                and (e.model is null or (model_names(e.model))[1] = any (model_names(r.model)))
                                and r.recorded_at >= t.until
                                and r.recorded_at < e.ends + interval '1 day'
                                and r.recorded_at - r.duration_ms * interval '1 millisecond' <= e.first_set
                        ), 0)
                    from (select date_bin('15 minutes', e.first_set, 'epoch') as until) t
                ) end
            ) as most,
            (
                select max(case e.unit when 'usd' then r.cost_usd else r.prompt_tokens + r.completion_tokens::bigint end)
                from usage_records r
                where (e.project_id is null or r.project_id = e.project_id)
                    and (e.key_id is null or r.key_id = e.key_id)
                    and (e.tag is null or r.tags @> e.tag)
                    and r.recorded_at >= case e.per when 'total' then e.created_at else e.begins end
                    and r.recorded_at < e.ends + interval '1 day'
            ) as one_request
        from exceeded e
    )
    select
        'overspent', l.project_id, l.key_id, case l.per when 'total' then l.created_at else l.begins end, format('budget_%s a %s', l.id, l.per),
        format('at most %s %s, and one request of %s', trim_scale(l.most), l.unit, trim_scale(coalesce(l.one_request, 0))), format('%s spent', trim_scale(l.spent))
    from limited l
    where l.spent > l.most + coalesce(l.one_request, 0);

    return query
    select
        k.kind, b.project_id, b.key_id, c.begins, format('budget_%s a %s', b.id, b.per), k.expected, format('%s spent, %s reserved', trim_scale(c.spent), trim_scale(c.reserved))
    from budget_periods c
    join budgets b on b.id = c.budget_id
    left join (
        select r.budget_id, r.begins, sum(r.amount) as amount, min(r.amount) as least
        from budget_reservations r
        group by r.budget_id, r.begins
    ) h on h.budget_id = c.budget_id and h.begins = c.begins
    cross join lateral (
        values
            ('reserved_differs', abs(c.reserved - coalesce(h.amount, 0)) > 1e-8, trim_scale(coalesce(h.amount, 0)) || ' ' || b.unit || ' reserved by requests'),
            ('negative_amount', least(c.spent, c.reserved, h.least) < 0, 'nothing below zero')
    ) as k (kind, is_so, expected)
    where k.is_so
        and (of_project is null or b.project_id = of_project);

    return query
    select
        k.kind, b.project_id, b.key_id, case when r.expires_at < 'infinity' then r.expires_at else r.begins end, format('budget_%s, reservation %s', b.id, r.id), k.expected,
        format('%s %s reserved', trim_scale(r.amount), b.unit)
    from budget_reservations r
    join budgets b on b.id = r.budget_id
    cross join lateral (
        values
            (
                'expired_reservation',
                r.expires_at < now() - interval '5 minutes' and exists (select from installation i where i.seen_at > now() - interval '5 minutes'),
                'handled by maintenance'
            ),
            (
                'reservation_without_batch',
                r.expires_at = 'infinity' and not exists (
                    select
                    from stored_objects o
                    where (b.project_id is null or o.project_id = b.project_id)
                        and o.collection in ('batches', 'message_batches')
                        -- The record of the batch may not be written yet.
                        and (o.settled_at is null or o.settled_at > now() - interval '5 minutes')
                        and md5(o.project_id || ' ' || o.id)::uuid = r.id
                ),
                'an unsettled batch'
            )
    ) as k (kind, is_so, expected)
    where k.is_so
        and (of_project is null or b.project_id = of_project);

    return query
    select 'budget_not_applied', p.id, null::bigint, min(b.created_at), p.name, 'has_budgets', count(*) || ' budgets, not applied'
    from projects p
    join budgets b on b.project_id = p.id or b.project_id is null
    where not p.has_budgets
        and (of_project is null or p.id = of_project)
    group by p.id, p.name;
end;
$$;

comment on function audit_budgets(timestamptz, timestamptz, bigint) is
    'Compares the spent and reserved amounts of budgets with records and reservations. Null: of_project (all, and the organization).';

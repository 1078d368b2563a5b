create or replace function key_spending(of_key bigint)
returns table (
    usd double precision,
    usd_today double precision,
    usd_this_week double precision,
    usd_this_month double precision,
    usd_of_project double precision,
    limit_usd double precision,
    limit_per text,
    remaining_usd double precision,
    expires_at timestamptz
)
language sql
stable
rows 1
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with present as (
        select
            date_trunc('day', now(), 'UTC') as day,
            date_trunc('week', now(), 'UTC') as week,
            date_trunc('month', now(), 'UTC') as month,
            now() + interval '1 hour' as until
    ),
    days as materialized (
        select u.bucket_start as at, u.cost_usd
        from present p, usage_by_key(array[of_key], least(p.week, p.month), p.until, 'day', 'UTC') u
    ),
    -- Budgets that apply to every request of the key.
    bounds as materialized (
        select b.project_id, b.amount, b.per, greatest(0, b.amount - coalesce(c.spent, 0) - coalesce(c.reserved, 0)) as remaining
        from api_keys k
        cross join lateral matching_budgets(k.project_id, k.id, null, '{}') b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) t
        left join budget_periods c on c.budget_id = b.id and c.begins = t.begins
        where k.id = of_key
            and b.unit = 'usd'
            and b.enforced
    )
    select
        coalesce((select sum(u.cost_usd) from present p, usage_by_key(array[of_key], 'epoch', p.until, 'month', 'UTC') u), 0),
        coalesce((select sum(d.cost_usd) from present p, days d where d.at >= p.day), 0),
        coalesce((select sum(d.cost_usd) from present p, days d where d.at >= p.week), 0),
        coalesce((select sum(d.cost_usd) from present p, days d where d.at >= p.month), 0),
        coalesce((select sum(u.cost_usd) from present p, usage_in_range(array[k.project_id], 'epoch', p.until, 'all', 'UTC', 'projects') u), 0),
        narrowest.amount,
        narrowest.per,
        (select min(b.remaining) from bounds b),
        k.expires_at
    from api_keys k
    left join lateral (
        select b.amount, b.per from bounds b where b.project_id is not null order by b.remaining, b.amount limit 1
    ) narrowest on true
    where k.id = of_key;
$$;

comment on function key_spending(bigint) is
    'What a key''s requests have cost in the last 13 months, in this UTC day, week and month; what all of its project have; and what it may still cost: the narrowest US dollar budget of the project that all requests of the key count against, and what is left of the narrowest, the organization''s among them. Null: limit_usd, limit_per, remaining_usd, expires_at.';

create or replace function settle_spending(done json) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- The same order as in reserve_spending(), for the same reason.
    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (
        select r.budget_id, r.begins
        from budget_reservations r
        where r.id in (select d.id from json_to_recordset(done) as d (id uuid))
        union
        select b.id, p.begins
        from json_to_recordset(done) as d (project_id bigint, key_id bigint, model text, tags jsonb, at timestamptz)
        cross join lateral budgets_of(d.project_id, d.key_id, d.model, d.tags) b
        cross join lateral period_of(b.per, b.time_zone, d.at) p
    )
    order by c.budget_id, c.begins
    for update;

    -- Nothing was reserved, as long as there was not this budget, or the reservation was given up for gone long ago: what it cost still counts.
    insert into budget_periods as c (budget_id, begins, spent)
    select b.id, p.begins, sum(n.spent)
    from json_to_recordset(done) as d (
        id uuid, project_id bigint, key_id bigint, model text, tags jsonb, usd numeric, tokens bigint, at timestamptz
    )
    cross join lateral budgets_of(d.project_id, d.key_id, d.model, d.tags) b
    cross join lateral period_of(b.per, b.time_zone, d.at) p
    cross join lateral (select case b.unit when 'usd' then d.usd else d.tokens end as spent) n
    where n.spent > 0
        and not exists (select from budget_reservations r where r.id = d.id and r.budget_id = b.id)
    group by b.id, p.begins
    order by b.id, p.begins
    on conflict (budget_id, begins) do update
    set spent = c.spent + excluded.spent;

    with over as (
        select d.*
        from json_to_recordset(done) as d (id uuid, model text, usd numeric, tokens bigint)
    ),
    gone as (
        delete from budget_reservations r
        where r.id in (select o.id from over o)
        returning r.id, r.budget_id, r.begins, r.amount, r.presumed_at is not null as is_presumed
    ),
    -- Of a request that reserved on two days, the first bears the cost. An unknown cost is taken to be all that was reserved. A model's
    -- budget bears what that model cost: a fallback answered, or a batch asked several.
    known as (
        select
            g.budget_id,
            g.begins,
            case when g.is_presumed then 0 else g.amount end as released,
            case
                when o.is_unknown then g.amount
                when g.begins = min(g.begins) over (partition by g.id, g.budget_id) then coalesce(o.spent, 0)
                else 0
            end - case when g.is_presumed then g.amount else 0 end as spent
        from gone g
        join budgets b on b.id = g.budget_id
        cross join lateral (
            select
                bool_or(n.spent is null) as is_unknown,
                sum(n.spent) filter (where b.model is null or (model_names(b.model))[1] = any (model_names(o.model))) as spent
            from over o
            cross join lateral (select case b.unit when 'usd' then o.usd else o.tokens end as spent) n
            where o.id = g.id
        ) o
    ),
    summed as (
        select k.budget_id, k.begins, sum(k.released) as released, sum(k.spent) as spent
        from known k
        group by k.budget_id, k.begins
    )
    update budget_periods c
    set reserved = greatest(0, c.reserved - s.released),
        spent = greatest(0, c.spent + s.spent)
    from summed s
    where c.budget_id = s.budget_id
        and c.begins = s.begins;

    perform tell_thresholds(array_agg(o.id), min(d.at))
    from json_to_recordset(done) as d (project_id bigint, key_id bigint, model text, tags jsonb, at timestamptz)
    cross join lateral budgets_of(d.project_id, d.key_id, d.model, d.tags) o;
end;
$$;

comment on function settle_spending(json) is
    'Ends requests'' reservations by their ids, which several may share: what they cost (usd, tokens; null: unknown, all that was reserved) is spent, the rest is released; what was presumed to be spent is put right. With project_id, key_id, model, tags and at, what is reserved no more, or never was, is spent, too.';

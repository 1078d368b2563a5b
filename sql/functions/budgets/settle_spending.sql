create or replace function settle_spending(settlements json) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- Locks in the order of reserve_spending(), to prevent deadlocks.
    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (
        select r.budget_id, r.begins
        from budget_reservations r
        where r.id in (select d.id from json_to_recordset(settlements) as d (id uuid))
        union
        select b.id, p.begins
        from json_to_recordset(settlements) as d (project_id bigint, key_id bigint, model text, tags jsonb, at timestamptz)
        cross join lateral matching_budgets(d.project_id, d.key_id, d.model, d.tags) b
        cross join lateral budget_period_at(b.per, b.time_zone, d.at) p
    )
    order by c.budget_id, c.begins
    for update;

    -- Adds costs without a reservation: the budget did not exist when the request arrived, or the reservation has expired.
    insert into budget_periods as c (budget_id, begins, spent)
    select b.id, p.begins, sum(n.spent)
    from json_to_recordset(settlements) as d (
        id uuid, project_id bigint, key_id bigint, model text, tags jsonb, usd numeric, tokens bigint, at timestamptz
    )
    cross join lateral matching_budgets(d.project_id, d.key_id, d.model, d.tags) b
    cross join lateral budget_period_at(b.per, b.time_zone, d.at) p
    cross join lateral (select case b.unit when 'usd' then d.usd else d.tokens end as spent) n
    where n.spent > 0
        and not exists (select from budget_reservations r where r.id = d.id and r.budget_id = b.id)
    group by b.id, p.begins
    order by b.id, p.begins
    on conflict (budget_id, begins) do update
    set spent = c.spent + excluded.spent;

    with over as (
        select d.*
        from json_to_recordset(settlements) as d (
            id uuid, model text, usd numeric, tokens bigint, doubtful_usd numeric, doubtful_tokens bigint
        )
    ),
    -- If a request reserved on two days, the first day bears the cost. The budget of a model bears the cost of that model, because a
    -- fallback may have responded, and a batch may have used several models. Spent and doubtful amounts together are at most the reserved
    -- amount, unless more was spent.
    known as (
        select
            r.id,
            r.budget_id,
            r.begins,
            r.amount,
            case when r.begins = min(r.begins) over (partition by r.id, r.budget_id) then o.spent else 0 end as spent,
            least(greatest(0, r.amount - o.spent), o.doubtful) as doubtful
        from budget_reservations r
        join budgets b on b.id = r.budget_id
        cross join lateral (
            select coalesce(sum(n.spent), 0) as spent, coalesce(sum(n.doubtful), 0) as doubtful
            from over o
            cross join lateral (
                select
                    case b.unit when 'usd' then o.usd else o.tokens end as spent,
                    case b.unit when 'usd' then o.doubtful_usd else o.doubtful_tokens end as doubtful
            ) n
            where o.id = r.id
                and (b.model is null or (model_names(b.model))[1] = any (model_names(o.model)))
        ) o
        where r.id in (select o.id from over o)
    ),
    ended as (
        delete from budget_reservations r
        using known k
        where k.doubtful = 0
            and r.id = k.id
            and r.budget_id = k.budget_id
            and r.begins = k.begins
    ),
    doubted as (
        update budget_reservations r
        set amount = k.doubtful,
            doubtful_at = now(),
            expires_at = now() + doubtful_reservation_ttl()
        from known k
        where k.doubtful > 0
            and r.id = k.id
            and r.budget_id = k.budget_id
            and r.begins = k.begins
    ),
    summed as (
        select k.budget_id, k.begins, sum(k.amount - k.doubtful) as released, sum(k.spent) as spent
        from known k
        group by k.budget_id, k.begins
    )
    update budget_periods c
    set reserved = greatest(0, c.reserved - s.released),
        spent = greatest(0, c.spent + s.spent)
    from summed s
    where c.budget_id = s.budget_id
        and c.begins = s.begins;

    perform raise_threshold_events(array_agg(o.id), min(d.at))
    from json_to_recordset(settlements) as d (project_id bigint, key_id bigint, model text, tags jsonb, at timestamptz)
    cross join lateral matching_budgets(d.project_id, d.key_id, d.model, d.tags) o;
end;
$$;

comment on function settle_spending(json) is
    'Ends the reservations of requests by their ids, which several may share: the cost (usd, tokens) is spent; the possible cost beyond it (doubtful_usd, doubtful_tokens; at most the reserved amount) stays reserved for doubtful_reservation_ttl(); the rest is released. With project_id, key_id, model, tags and at, a cost without a reservation is also spent.';

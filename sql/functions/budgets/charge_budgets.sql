create or replace function charge_budgets(of_project bigint, of_model text, usd numeric) returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    insert into budget_periods (budget_id, begins)
    select b.id, p.begins
    from matching_budgets(of_project, null, of_model, null) b
    cross join lateral budget_period_at(b.per, b.time_zone, now()) p
    where b.unit = 'usd'
    order by 1, 2
    on conflict do nothing;

    -- Locks in the order of reserve_spending(), to prevent deadlocks.
    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (
        select b.id, p.begins
        from matching_budgets(of_project, null, of_model, null) b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) p
        where b.unit = 'usd'
    )
    order by c.budget_id, c.begins
    for update;

    if usd > 0 and exists (
        select
        from matching_budgets(of_project, null, of_model, null) b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) p
        join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        where b.unit = 'usd'
            and b.enforced
            and c.spent + c.reserved + usd > b.amount
    ) then
        return false;
    end if;

    update budget_periods c
    set spent = greatest(0, c.spent + usd)
    from matching_budgets(of_project, null, of_model, null) b
    cross join lateral budget_period_at(b.per, b.time_zone, now()) p
    where b.unit = 'usd'
        and c.budget_id = b.id
        and c.begins = p.begins;
    perform raise_threshold_events(array_agg(b.id), now()) from matching_budgets(of_project, null, of_model, null) b;
    return true;
end;
$$;

comment on function charge_budgets(bigint, text, numeric) is
    'Spends the cost of a call that belongs to no key, such as the judge''s, at once: in all of the project''s budgets in US dollars without key and tag, or in none (result false). A negative amount is a refund.';

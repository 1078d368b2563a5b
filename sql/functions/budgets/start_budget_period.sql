create or replace function start_budget_period(of_budget bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    new budgets;
    present timestamptz;
    summed numeric := 0;
begin
    select b.* into new from budgets b where b.id = of_budget;
    select p.begins into present from budget_period_at(new.per, new.time_zone, now()) p;

    -- Each record is counted once: in the sums, in usage_pending, or by its own transaction. The lock keeps roll_up_usage() from moving
    -- pending rows into the sums until this transaction commits. The sums are read before taking locks for which the recorder waits.
    if new.per <> 'total' then
        perform pg_advisory_xact_lock(hashtext('model_proxy roll_up_usage'));
        summed := case when new.tag is null then summed_spending(new, present) else summed_tagged_spending(new, present) end;
    end if;

    -- Transactions that record usage without knowing the budget commit first, and their rows are pending below. Transactions that wait for
    -- these locks see the budget.
    if new.project_id is not null then
        perform 1 from projects p where p.id = new.project_id for update;
        update projects p set has_budgets = true where p.id = new.project_id and not p.has_budgets;
    else
        update projects p set has_budgets = true where not p.has_budgets;
        perform pg_advisory_xact_lock(hashtext('model_proxy organization_budget'));
        -- Those created meanwhile.
        update projects p set has_budgets = true where not p.has_budgets;
    end if;
    if new.per <> 'total' then
        summed := summed + pending_spending(new, present);
    end if;

    insert into budget_periods as c (budget_id, begins, spent)
    values (of_budget, present, summed)
    -- The row may be left from an earlier time when the budget had this time zone.
    on conflict (budget_id, begins) do update
    set spent = excluded.spent;
end;
$$;

comment on function start_budget_period(bigint) is
    'Begins the present period of a new budget, or of one with a new time zone, with the cost of the period so far; a total begins with zero. Records of other projects do not wait.';

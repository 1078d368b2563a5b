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

    -- Each record is counted once: in the sums, in what is pending, or by its own transaction. Until this one commits, nothing moves from what
    -- is pending into the sums. Sums are read before anything is locked that records wait for.
    if new.per <> 'total' then
        perform pg_advisory_xact_lock(hashtext('model_proxy roll_up_usage'));
        summed := case when new.tag is null then summed_spending(new, present) else summed_tagged_spending(new, present) end;
    end if;

    -- Transactions that record usage without knowing of the budget commit first, and are pending below. Those that wait here know of it.
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
    -- Left by the same time zone, before the budget had another one.
    on conflict (budget_id, begins) do update
    set spent = excluded.spent;
end;
$$;

comment on function start_budget_period(bigint) is
    'Begins the present period of a budget that is new, or has a new time zone, with what the period has cost so far; a total, with nothing. Other projects'' records do not wait.';

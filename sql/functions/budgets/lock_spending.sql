create or replace function lock_spending(of_projects bigint[]) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform pg_advisory_xact_lock_shared(hashtext('model_proxy organization_budget'));
    perform 1 from projects p where p.id = any (of_projects) order by p.id for key share;
end;
$$;

comment on function lock_spending(bigint[]) is
    'Precedes what records usage: a budget that start_budget_period() begins counts it, or is known to it. Waits only for budgets of these projects, and of the organization. Other changes of a project do not wait for it.';

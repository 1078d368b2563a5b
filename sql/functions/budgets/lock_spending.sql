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
    'Must be called before usage is recorded: a budget that start_budget_period() begins then either counts the usage, or is visible to the caller. Waits only for budgets of these projects, and of the organization. Other changes of a project do not wait for it.';

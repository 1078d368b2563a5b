create or replace function delete_unused_budget(owner_id bigint, of_budget bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    delete from budgets b
    where b.id = of_budget
        and not b.enforced
        and not exists (select from spend_alerts a where a.budget_id = b.id);
    -- A budget that is set concurrently is either seen below, or sets has_budgets again. The locks follow the order of
    -- start_budget_period().
    perform 1 from projects p where p.id = owner_id for no key update;
    perform pg_advisory_xact_lock_shared(hashtext('model_proxy organization_budget'));
    update projects p
    set has_budgets = exists (select from budgets b where b.project_id = p.id or b.project_id is null)
    where p.has_budgets
        and (p.id = owner_id or owner_id is null);
end;
$$;

comment on function delete_unused_budget(bigint, bigint) is
    'Deletes a budget that is not enforced once it has no alerts, and updates projects.has_budgets: of a project, or for null of all.';

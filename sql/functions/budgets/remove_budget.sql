create or replace function remove_budget(project text, of_budget bigint) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    owner_id bigint := open_project(project, 'owner');
begin
    delete from budgets b where b.id = of_budget and b.project_id = owner_id;
    if not found then
        raise exception 'project % has no such budget', quote_for_message(project) using errcode = 'no_data_found';
    end if;
    update projects p
    set has_budgets = exists (select from budgets b where b.project_id = owner_id)
    where p.id = owner_id;
    perform audit('budget.removed', owner_id, 'budget_' || of_budget);
end;
$$;

comment on function remove_budget(text, bigint) is 'Removes a budget, from the next request on. Raises when the project has no such budget.';

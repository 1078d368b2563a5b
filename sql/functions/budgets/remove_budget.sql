create or replace function remove_budget(project text, of_budget bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_budget_owner(project);
    removed jsonb;
begin
    select jsonb_build_object(
        'unit', b.unit, 'amount', b.amount, 'per', b.per, 'key_id', b.key_id, 'api_key', find_target_name('key_' || b.key_id), 'model', b.model,
        'tag', (select min(t.key || '=' || t.value) from jsonb_each_text(b.tag) t)
    )
    into removed
    from budgets b
    where b.id = of_budget;
    -- Spend alerts of the budget continue.
    update budgets b
    set enforced = false,
        amount = 999999999
    where b.id = of_budget
        and b.project_id is not distinct from owner_id
        and b.enforced;
    if not found then
        raise exception '% has no such budget', coalesce('project ' || quote_for_message(project), 'the organization')
            using errcode = 'no_data_found';
    end if;
    perform delete_unused_budget(owner_id, of_budget);
    perform audit('budget.removed', owner_id, 'budget_' || of_budget, removed);
end;
$$;

comment on function remove_budget(text, bigint) is
    'Removes a budget of a project, or for null of the organization, from the next request on. Raises when there is none of that id.';

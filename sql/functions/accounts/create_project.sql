create or replace function create_project(project text, plan text) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    created_id bigint;
begin
    if project is null or project !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' then
        raise exception 'project name % is not valid: 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit', quote_for_message(project)
            using errcode = 'invalid_parameter_value';
    end if;
    perform require_administrator();
    perform require_plan(plan);
    -- The lock orders this insert with start_budget_period(): either the insert sees the organization's budgets, or that function sees the
    -- project.
    perform pg_advisory_xact_lock_shared(hashtext('model_proxy organization_budget'));
    insert into projects (name, plan, has_budgets)
    values (project, plan, exists (select from budgets b where b.project_id is null))
    on conflict (name) do nothing
    returning id into created_id;
    if created_id is null then
        raise exception 'project % exists already', quote_for_message(project) using errcode = 'unique_violation';
    end if;
    perform audit('project.created', created_id, 'proj_' || created_id, jsonb_build_object('name', project, 'plan', plan));
    return created_id;
end;
$$;

comment on function create_project(text, text) is 'Creates a project on a plan and returns its id. Raises on an invalid or taken name and on an unknown plan. Requires an administrator.';

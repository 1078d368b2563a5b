create or replace function require_budget_owner(project text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    if project is null then
        perform require_administrator();
        return null;
    end if;
    return require_project_role(project, 'owner');
end;
$$;

comment on function require_budget_owner(text) is
    'Id of the project, for an owner of it who sets its budgets; null for null, the organization, for an administrator. Raises as require_project_role() and require_administrator() do.';

create or replace function open_budgets(project text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    if project is null then
        perform require_administrator();
        return null;
    end if;
    return open_project(project, 'owner');
end;
$$;

comment on function open_budgets(text) is
    'Id of the project, for an owner of it who sets what it may spend; null for null, the organization, for an administrator. Raises as open_project() and require_administrator() do.';

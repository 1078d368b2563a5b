create or replace function set_plan(project text, plan text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    owner_id bigint := require_project_role(project, 'viewer');
begin
    perform require_administrator();
    perform require_plan(plan);
    update projects p set plan = set_plan.plan where p.id = owner_id;
end;
$$;

comment on function set_plan(text, text) is 'Moves a project to another plan; its limits apply from the next request on. Requires an administrator. Raises on an unknown project or plan.';

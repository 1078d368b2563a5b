create or replace function set_plan(project text, plan text) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
#variable_conflict use_variable
declare
    owner_id bigint := find_project(project);
begin
    if not exists (select 1 from plans p where p.name = plan) then
        raise exception 'plan "%" does not exist; plans are: %', plan, (select string_agg(p.name, ', ' order by p.requests_per_month, p.name) from plans p)
            using errcode = 'no_data_found';
    end if;
    update projects p set plan = set_plan.plan where p.id = owner_id;
end;
$$;

comment on function set_plan(text, text) is 'Moves a project to another plan; its limits hold from the next request on. Raises on an unknown project or plan.';

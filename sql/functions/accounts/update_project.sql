create or replace function update_project(project text, new_name text, new_plan text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint;
begin
    if new_plan is not null then
        perform set_plan(project, new_plan);
    end if;
    if new_name is null then
        return;
    end if;
    owner_id := require_project_role(project, 'owner');
    if new_name !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' then
        raise exception 'project name % is not valid: 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit', quote_for_message(new_name)
            using errcode = 'invalid_parameter_value';
    end if;
    update projects p set name = new_name where p.id = owner_id;
    perform audit('project.updated', owner_id, 'proj_' || owner_id, jsonb_build_object('name', new_name, 'was', project));
exception
    when unique_violation then
        raise exception 'project % exists already', quote_for_message(new_name) using errcode = 'unique_violation';
end;
$$;

comment on function update_project(text, text, text) is 'Gives a project another plan, another name, or both. A name requires an owner of it; a plan, as set_plan(), an administrator. Raises on an invalid or taken name. Null: new_name, new_plan (it stays).';

create or replace function update_project(project text, new_name text, new_plan text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    if new_plan is not null then
        perform set_plan(project, new_plan);
    end if;
    if new_name is not null then
        perform rename_project(project, new_name);
    end if;
end;
$$;

comment on function update_project(text, text, text) is 'Gives a project another plan, another name, or both. Raises as set_plan() and rename_project() do. Null: new_name, new_plan (it stays).';

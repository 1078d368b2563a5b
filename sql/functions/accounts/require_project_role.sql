create or replace function require_project_role(project text, needed text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    found_id bigint := find_project(project);
begin
    perform authorize(found_id, needed);
    return found_id;
end;
$$;

comment on function require_project_role(text, text) is 'Id of the project of that name, for a user with the role viewer, member or owner there. Raises as find_project() and authorize() do.';

create or replace function find_project_name(of_project bigint) returns text
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    found_name text;
begin
    select p.name into found_name
    from projects p
    where p.id = of_project
        and (current_user_id() is null or p.id in (select visible_projects()));
    if found_name is null then
        raise exception 'this project does not exist, or you are not a member of it' using errcode = 'no_data_found';
    end if;
    return found_name;
end;
$$;

comment on function find_project_name(bigint) is 'Name of a project that the current user may see; raises no_data_found when there is none.';

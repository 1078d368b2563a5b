create or replace function find_project(project text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    found_id bigint;
begin
    select id into found_id from projects where name = project;
    if found_id is null then
        raise exception 'project % does not exist', quote_for_message(project) using errcode = 'no_data_found';
    end if;
    return found_id;
end;
$$;

comment on function find_project(text) is 'Id of the project of that name; raises no_data_found when there is none.';

create or replace function find_end_user(project text, of_user text) returns setof end_user_data
language plpgsql
-- Volatile, so that it is called like a change and checks access itself: the dashboard's role cannot read all of these tables.
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id constant bigint := require_project_role(project, 'owner');
begin
    if of_user = '' then
        raise exception 'the end user must not be empty' using errcode = 'invalid_parameter_value';
    end if;
    return query
    select
        i.kind,
        count(*)::natural_number,
        sum(i.bytes)::natural_number,
        to_unix_seconds(min(i.at))::unix_seconds,
        to_unix_seconds(max(i.at))::unix_seconds
    from end_user_items i
    where i.project_id = owner_id
        and i.end_user = of_user
    group by i.kind
    order by i.kind;
end;
$$;

comment on function find_end_user(text, text) is 'Returns the number and size of stored items of an end user (in the form of name_end_user()) of a project, by kind, as in end_user_items. Requires an owner of the project.';

create or replace function authorize(of_project bigint, needed text) returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    ranks constant text[] := array['viewer', 'member', 'owner'];
    held constant text := current_project_role(of_project);
begin
    if held is null then
        -- The message does not reveal whether the project exists.
        raise exception 'this project does not exist, or you are not a member of it' using errcode = 'no_data_found';
    end if;
    if array_position(ranks, held) < array_position(ranks, needed) then
        raise exception 'your role in this project is %; this action requires %', held, needed using errcode = 'insufficient_privilege';
    end if;
end;
$$;

comment on function authorize(bigint, text) is 'Raises when the current user lacks the role viewer, member or owner in a project: no_data_found for a user who is no member, else insufficient_privilege. Administrators and operators with psql pass.';

create or replace function current_project_role(of_project bigint) returns text
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    key_project constant bigint := current_key_project();
begin
    if key_project is not null and key_project is distinct from of_project then
        return null;
    end if;
    if current_user_id() is null or has_administrator_role() then
        return 'owner';
    end if;
    return (select m.role from memberships m where m.project_id = of_project and m.user_id = current_user_id());
end;
$$;

comment on function current_project_role(bigint) is 'The current user''s role in a project: viewer, member or owner, as administrators and operators with psql are. Null: result (none).';

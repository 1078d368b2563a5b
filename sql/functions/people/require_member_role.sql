create or replace function require_member_role(member_role text) returns void
language plpgsql
immutable
set search_path = model_proxy, pg_temp
as $$
begin
    if member_role is null or member_role not in ('owner', 'member', 'viewer') then
        raise exception 'role % does not exist; roles are: owner, member, viewer', quote_for_message(member_role)
            using errcode = 'invalid_parameter_value';
    end if;
end;
$$;

comment on function require_member_role(text) is 'Raises on what is no role in a project.';

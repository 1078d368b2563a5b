create or replace function set_member(project text, of_user bigint, member_role text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := open_project(project, 'owner');
    was text;
begin
    if member_role is null or member_role not in ('owner', 'member', 'viewer') then
        raise exception 'role % does not exist; roles are: owner, member, viewer', quote_for_message(member_role)
            using errcode = 'invalid_parameter_value';
    end if;
    select m.role into was from memberships m where m.project_id = owner_id and m.user_id = of_user for update;
    insert into memberships as m (project_id, user_id, role)
    select owner_id, u.id, member_role from users u where u.id = of_user
    on conflict (project_id, user_id) do update set role = excluded.role;
    if not found then
        raise exception 'user user_% does not exist', of_user using errcode = 'no_data_found';
    end if;
    update api_keys k
    set deactivated_at = now()
    from sessions s
    where s.id = k.session_id and s.user_id = of_user and k.project_id = owner_id and k.deactivated_at is null and member_role = 'viewer';
    perform audit(
        case when was is null then 'role.assignment.created' else 'role.assignment.updated' end,
        owner_id, 'user_' || of_user, jsonb_build_object('role', member_role, 'was', was)
    );
end;
$$;

comment on function set_member(text, bigint, text) is 'Makes a user owner, member or viewer of a project, and replaces an earlier role; a viewer keeps no key of a session. Takes an owner of it.';

create or replace function set_member(project text, of_user bigint, member_role text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'owner');
    was text;
begin
    perform require_choice(member_role, array['owner', 'member', 'viewer'], 'role', 'roles');
    if member_role <> 'owner' then
        perform require_other_owner(of_user, owner_id);
    end if;
    select m.role into was from memberships m where m.project_id = owner_id and m.user_id = of_user for update;
    if was is null then
        raise exception 'user user_% is no member of the project', of_user using errcode = 'no_data_found';
    end if;
    update memberships m set role = member_role where m.project_id = owner_id and m.user_id = of_user;
    update api_keys k
    set deactivated_at = now()
    from sessions s
    where s.id = k.session_id and s.user_id = of_user and k.project_id = owner_id and k.deactivated_at is null and member_role = 'viewer';
    perform audit('role.assignment.updated', owner_id, 'user_' || of_user, jsonb_build_object('role', member_role, 'was', was));
end;
$$;

comment on function set_member(text, bigint, text) is 'Changes a member''s role in a project to owner, member or viewer; a viewer keeps no key of a session. Requires an owner of it; the last owner who can log in cannot be demoted.';

create or replace function add_membership(project text, of_user bigint, member_role text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'owner');
    added bigint;
begin
    perform require_choice(member_role, array['owner', 'member', 'viewer'], 'role', 'roles');
    -- The lock prevents deletion of the user until the membership refers to it.
    perform from users u where u.id = of_user for key share;
    if not found then
        raise exception 'user user_% does not exist', of_user using errcode = 'no_data_found';
    end if;
    insert into memberships as m (project_id, user_id, role)
    values (owner_id, of_user, member_role)
    on conflict (project_id, user_id) do nothing
    returning m.user_id into added;
    if added is null then
        raise exception 'user_% is a member of project % already: change the role instead', of_user, quote_for_message(project)
            using errcode = 'unique_violation';
    end if;
    perform audit('role.assignment.created', owner_id, 'user_' || of_user, jsonb_build_object('role', member_role));
end;
$$;

comment on function add_membership(text, bigint, text) is 'Makes a user owner, member or viewer of a project; raises unique_violation if the user is a member. Requires an owner of it.';

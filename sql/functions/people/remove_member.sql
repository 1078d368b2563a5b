create or replace function remove_member(project text, of_user bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'owner');
begin
    perform require_other_owner(of_user, owner_id);
    delete from memberships m where m.project_id = owner_id and m.user_id = of_user;
    if not found then
        raise exception 'user user_% is no member of the project', of_user using errcode = 'no_data_found';
    end if;
    update api_keys k
    set deactivated_at = now()
    from sessions s
    where s.id = k.session_id and s.user_id = of_user and k.project_id = owner_id and k.deactivated_at is null;
    perform audit('role.assignment.deleted', owner_id, 'user_' || of_user);
end;
$$;

comment on function remove_member(text, bigint) is 'Removes a user from a project, and ends the keys of the user''s sessions. Requires an owner of it; the last owner who can log in cannot be removed.';

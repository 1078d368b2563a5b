create or replace function delete_user(of_user bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    if not can_lose_role(of_user, null) then
        raise exception 'user_% is the last administrator who can log in: make another user an administrator first', of_user
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    -- The lock keeps the user from joining a project.
    perform from users u where u.id = of_user for update;
    perform require_other_owner(of_user, null);
    if not exists (select from users u where u.id = of_user) then
        raise exception 'user user_% does not exist', of_user using errcode = 'no_data_found';
    end if;
    -- Before the deletion, while the user has a name.
    perform audit('user.deleted', null, 'user_' || of_user, jsonb_build_object('email', find_target_name('user_' || of_user)));
    delete from users u where u.id = of_user;
end;
$$;

comment on function delete_user(bigint) is 'Deletes a user, with memberships, sessions and admin keys. Requires an administrator; neither the last administrator who can log in nor the last such owner of a project can be deleted.';

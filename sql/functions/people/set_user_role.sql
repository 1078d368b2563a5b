create or replace function set_user_role(of_user bigint, user_role text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    perform require_choice(user_role, array['owner', 'reader'], 'role', 'roles');
    if not can_lose_role(of_user, user_role) then
        raise exception 'user_% is the last administrator who can log in: make another one first', of_user
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    update users u set role = user_role where u.id = of_user;
    if not found then
        raise exception 'user user_% does not exist', of_user using errcode = 'no_data_found';
    end if;
    perform audit('user.updated', null, 'user_' || of_user, jsonb_build_object('role', user_role));
end;
$$;

comment on function set_user_role(bigint, text) is 'Makes a user an administrator (owner) or an ordinary user (reader). Requires an administrator; the last administrator who can log in cannot be demoted.';

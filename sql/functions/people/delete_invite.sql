create or replace function delete_invite(of_user bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    invited users;
begin
    perform require_administrator();
    select * into invited from users u where u.id = of_user;
    if not found then
        raise exception 'there is no such invite' using errcode = 'no_data_found';
    end if;
    if can_log_in(invited) then
        raise exception 'this invite was accepted: DELETE /v1/organization/users/user_% deletes the user.', of_user
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform delete_user(of_user);
end;
$$;

comment on function delete_invite(bigint) is 'Deletes a user who was invited and cannot log in yet. Requires an administrator.';

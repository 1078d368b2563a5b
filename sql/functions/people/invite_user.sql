create or replace function invite_user(of_user bigint) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- The token permits logging in as the user, so only administrators may create one.
    perform require_administrator();
    return create_invitation(of_user);
end;
$$;

comment on function invite_user(bigint) is 'Creates and returns a token, valid for seven days and one use, with which a user sets a new password. It is not shown again. Requires an administrator.';

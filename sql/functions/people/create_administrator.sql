create or replace function create_administrator(email text) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    known_id bigint;
begin
    perform require_administrator();
    update users u set role = 'owner' where u.email = lower(btrim(create_administrator.email)) returning u.id into known_id;
    if known_id is not null then
        perform audit('user.updated', null, 'user_' || known_id, jsonb_build_object('role', 'owner'));
    end if;
    return invite_user(coalesce(known_id, create_user(email, 'owner')));
end;
$$;

comment on function create_administrator(text) is 'Adds an administrator, or makes a user one, and returns a token to set a password with. For operators without an administrator, or who lost the password.';

create or replace function create_user(email text, user_role text, password_hash text default null) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    return add_user(email, user_role, password_hash);
end;
$$;

comment on function create_user(text, text, text) is 'Adds a user (role owner: administrator, or reader) and returns the id; without a password hash, an invitation sets the password. Requires an administrator. Raises on an invalid or taken e-mail address.';

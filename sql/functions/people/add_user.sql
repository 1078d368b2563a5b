create or replace function add_user(email text, user_role text, password_hash text default null) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    address constant text := fold_email(coalesce(email, ''));
    created_id bigint;
begin
    perform require_choice(user_role, array['owner', 'reader'], 'role', 'roles');
    insert into users as u (email, role, password_hash)
    values (address, user_role, password_hash)
    on conflict on constraint users_email_key do nothing
    returning u.id into created_id;
    if created_id is null then
        raise exception 'user % exists already', quote_for_message(address) using errcode = 'unique_violation';
    end if;
    perform audit('user.added', null, 'user_' || created_id, jsonb_build_object('email', address, 'role', user_role));
    return created_id;
exception
    when check_violation then
        raise exception 'e-mail address % is not valid', quote_for_message(email) using errcode = 'invalid_parameter_value';
end;
$$;

comment on function add_user(text, text, text) is 'Adds a user without a permission check, which callers must make; see create_user().';

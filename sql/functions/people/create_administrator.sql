create or replace function create_administrator(email text, promote boolean default false) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    address constant text := fold_email(create_administrator.email);
    known users;
begin
    perform require_administrator();
    select u.* into known from users u where u.email = address for update;
    if known.id is null then
        return invite_user(create_user(email, 'owner'));
    end if;
    if known.role <> 'owner' then
        if promote is not true then
            raise exception 'user % exists and is not an administrator: only with --promote (psql: -v promote=true) is the user made one; administrators reset passwords on the page Users',
                quote_for_message(address)
                using errcode = 'object_not_in_prerequisite_state';
        end if;
        perform set_user_role(known.id, 'owner');
    end if;
    return invite_user(known.id);
end;
$$;

comment on function create_administrator(text, boolean) is 'Adds an administrator and returns a token to set a password with; for an administrator who lost the password, returns another token. Raises for a user who is not an administrator, unless promote is true: then the user becomes one. For operators.';

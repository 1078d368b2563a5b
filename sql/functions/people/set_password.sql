create or replace function set_password(new_hash text) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    update users u set password_hash = new_hash where u.id = current_user_id();
    if not found then
        raise exception 'only a user has a password' using errcode = 'no_data_found';
    end if;
    perform audit('user.updated', null, 'user_' || current_user_id(), '{"password": "changed"}');
end;
$$;

comment on function set_password(text) is 'Replaces the current user''s password hash.';

create or replace function set_password(new_hash text, kept_session bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    update users u set password_hash = new_hash where u.id = current_user_id();
    if not found then
        raise exception 'only a user has a password' using errcode = 'no_data_found';
    end if;
    delete from invitations i where i.user_id = current_user_id();
    delete from sessions s where s.user_id = current_user_id() and s.id is distinct from kept_session;
    perform audit('user.updated', null, 'user_' || current_user_id(), '{"password": "changed"}');
end;
$$;

comment on function set_password(text, bigint) is 'Replaces the current user''s password hash, and ends all sessions but one, and tokens that set another password. Null: kept_session (all end).';

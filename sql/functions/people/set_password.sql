create or replace function set_password(new_hash text, kept_session text) returns void
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
    delete from sessions s where s.user_id = current_user_id() and s.token_hash is distinct from decode(kept_session, 'hex');
    perform audit('user.updated', null, 'user_' || current_user_id(), '{"password": "changed"}');
end;
$$;

comment on function set_password(text, text) is 'Replaces the current user''s password hash, and ends all sessions but the one with this cookie''s hash, and tokens that set another password. Null: kept_session (all end).';

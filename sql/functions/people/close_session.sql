create or replace function close_session(token_hash text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    delete from sessions s where s.token_hash = decode(close_session.token_hash, 'hex') and s.user_id = current_user_id();
    perform audit('logout.succeeded', null, 'user_' || current_user_id());
end;
$$;

comment on function close_session(text) is 'Ends one session of the current user, by the hex SHA-256 of its cookie.';

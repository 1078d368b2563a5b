create or replace function close_sessions() returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    closed integer;
begin
    delete from sessions s where s.user_id = current_user_id();
    get diagnostics closed = row_count;
    perform audit('logout.succeeded', null, 'user_' || current_user_id(), jsonb_build_object('sessions', closed));
    return closed;
end;
$$;

comment on function close_sessions() is 'Ends all sessions of the current user, and returns how many there were.';

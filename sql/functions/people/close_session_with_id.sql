create or replace function close_session_with_id(session_id bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    delete from sessions s where s.id = session_id and s.user_id = current_user_id();
    if not found then
        raise exception 'this session does not exist, or has ended' using errcode = 'no_data_found';
    end if;
    perform audit('logout.succeeded', null, 'user_' || current_user_id(), jsonb_build_object('session', session_id));
end;
$$;

comment on function close_session_with_id(bigint) is 'Ends one session of the current user. Raises no_data_found for anybody else''s.';

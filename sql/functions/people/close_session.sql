create or replace function close_session(session_id bigint, is_current boolean) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    delete from sessions s where s.id = session_id and s.user_id = current_user_id();
    if not found and not is_current then
        raise exception 'this session does not exist, or has ended' using errcode = 'no_data_found';
    end if;
    perform audit(
        'logout.succeeded', null, 'user_' || current_user_id(),
        case when is_current then '{}' else jsonb_build_object('session', session_id) end
    );
end;
$$;

comment on function close_session(bigint, boolean) is 'Ends one session of the current user: the one that sent the request (is_current), or another. Raises no_data_found for anybody else''s.';

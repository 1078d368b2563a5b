create or replace function list_own_sessions(current_session bigint) returns setof open_session
language sql
stable
-- The dashboard's role cannot read sessions; this function returns those of the current user.
security definer
set search_path = model_proxy, pg_temp
as $$
    select
        'session_' || s.id, s.address, s.user_agent, to_unix_seconds(s.created_at), to_unix_seconds(s.last_seen_at),
        s.id is not distinct from current_session
    from sessions s
    where s.user_id = current_user_id()
        and current_key_project() is null
        and s.last_seen_at > now() - interval '7 days'
        and s.expires_at > now()
    order by s.last_seen_at desc, s.id desc;
$$;

comment on function list_own_sessions(bigint) is 'The current user''s sessions, the last used first; current_session is the one that sent the request. None for an admin key that is limited to one project. Null: current_session (for an admin key).';

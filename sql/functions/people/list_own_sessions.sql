create or replace function list_own_sessions(current_token_hash text) returns setof open_session
language sql
stable
-- The dashboard's role cannot read sessions; this function returns those of the current user.
security definer
set search_path = model_proxy, pg_temp
as $$
    select
        'session_' || s.id, s.address, s.user_agent, to_unix_seconds(s.created_at), to_unix_seconds(s.last_seen_at),
        coalesce(s.token_hash = decode(current_token_hash, 'hex'), false)
    from sessions s
    where s.user_id = current_user_id()
        and current_key_project() is null
        and s.last_seen_at > now() - interval '7 days'
        and s.expires_at > now()
    order by s.last_seen_at desc, s.id desc;
$$;

comment on function list_own_sessions(text) is 'The current user''s sessions, the last used first; current_token_hash is the hex SHA-256 of the request''s cookie. None for an admin key that is limited to one project. Null: current_token_hash (for an admin key).';

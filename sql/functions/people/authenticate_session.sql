create or replace function authenticate_session(token_hash text) returns table (
    session_id bigint,
    user_id bigint,
    email text,
    role user_role
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    -- At most once a minute, because a row that every request updates would be a hot spot.
    update sessions s
    set last_seen_at = now()
    where s.token_hash = decode(authenticate_session.token_hash, 'hex')
        and s.last_seen_at < now() - interval '1 minute'
        and s.last_seen_at > now() - interval '7 days'
        and s.expires_at > now();
    return query
    select s.id, u.id, u.email, u.role::user_role
    from sessions s
    join users u on u.id = s.user_id
    where s.token_hash = decode(authenticate_session.token_hash, 'hex')
        and s.last_seen_at > now() - interval '7 days'
        and s.expires_at > now();
end;
$$;

comment on function authenticate_session(text) is 'The user of a session cookie (hex SHA-256); no row when it is unknown, has expired, or was not used for seven days.';

create or replace function login_state(of_user bigint)
returns table (
    can_log_in boolean,
    invited_until unix_seconds,
    last_seen_at unix_seconds
)
language sql
stable
rows 1
-- Nobody else reads hashes, invitations and sessions; what comes of them is shown to whoever may see the user.
security definer
set search_path = model_proxy, pg_temp
as $$
    select
        can_log_in(u),
        (select seconds_of(i.expires_at) from invitations i where i.user_id = u.id),
        (select seconds_of(max(s.last_seen_at)) from sessions s where s.user_id = u.id)
    from users u
    where u.id = of_user
        and (
            current_user_id() is null
            or u.id = current_user_id()
            or exists (
                select
                from memberships m
                join memberships own on own.project_id = m.project_id and own.user_id = current_user_id()
                where m.user_id = u.id
            )
            or is_administrator()
        );
$$;

comment on function login_state(bigint) is 'Whether a user can log in yet, until when the invitation can be taken up or since when it cannot, and when the user was last seen; no row for whom the current user may not see. Operators with psql see all. Null: invited_until (there is none), last_seen_at (never).';

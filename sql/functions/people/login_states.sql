create or replace function login_states(of_users bigint[])
returns table (
    user_id bigint,
    can_log_in boolean,
    invited_until timestamptz,
    last_seen_at timestamptz
)
language sql
stable
-- Nobody else reads hashes, invitations and sessions; what comes of them is shown to whoever may see the user.
security definer
set search_path = model_proxy, pg_temp
as $$
    select
        u.id,
        can_log_in(u),
        (select i.expires_at from invitations i where i.user_id = u.id),
        (select max(s.last_seen_at) from sessions s where s.user_id = u.id)
    from users u
    where u.id = any (of_users)
        and (
            u.id = current_user_id()
            or is_administrator()
            or exists (select from memberships m where m.user_id = u.id and m.project_id in (select visible_projects()))
        );
$$;

comment on function login_states(bigint[]) is 'Whether users can log in yet, until when their invitation can be taken up or since when it cannot, and when they were last seen, of those that the current user may see.';

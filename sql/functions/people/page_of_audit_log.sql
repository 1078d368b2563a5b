create or replace function page_of_audit_log(
    of_projects bigint[],
    of_actions text[],
    of_emails text[],
    of_users bigint[],
    of_targets text[],
    from_time timestamptz,
    until_time timestamptz,
    after_id bigint,
    before_id bigint,
    page_size integer
)
returns table (
    id bigint,
    recorded_at timestamptz,
    actor text,
    actor_kind text,
    user_id bigint,
    admin_key_id bigint,
    address text,
    project_id bigint,
    project_name text,
    action text,
    target text,
    details jsonb
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select a.*
    from (
        select
            l.id, l.recorded_at, l.actor, l.actor_kind, l.user_id, l.admin_key_id, l.address, l.project_id,
            (select p.name from projects p where p.id = l.project_id), l.action, l.target, l.details
        from audit_log l
        where (of_projects is null or l.project_id = any (of_projects))
            and (of_actions is null or l.action = any (of_actions))
            and (of_emails is null or l.actor = any (of_emails))
            and (of_users is null or l.user_id = any (of_users))
            and (of_targets is null or l.target = any (of_targets))
            and (from_time is null or l.recorded_at >= from_time)
            and (until_time is null or l.recorded_at < until_time)
            and (after_id is null or l.id < after_id)
            and (before_id is null or l.id > before_id)
        -- A previous page has the entries next to the given one.
        order by case when before_id is null then -l.id else l.id end
        limit page_size
    ) a
    order by a.id desc;
$$;

comment on function page_of_audit_log(bigint[], text[], text[], bigint[], text[], timestamptz, timestamptz, bigint, bigint, integer) is
    'The audit log, newest first: entries after (older than) or before (newer than) a given one.';

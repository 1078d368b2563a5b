create or replace function raise_due_events() returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select raise_event(
        c.project_id, 'quota.threshold',
        jsonb_build_object('percent', t.percent, 'requests', c.requests, 'limit', l.per_month, 'key_type', c.key_type, 'month', c.month),
        c.key_type || ':' || c.month || ':' || t.percent
    )
    from monthly_counters c
    join projects p on p.id = c.project_id and p.archived_at is null
    join plans s on s.name = p.plan
    cross join lateral (
        select case c.key_type when 'test' then s.test_requests_per_month else s.requests_per_month end as per_month
    ) l
    join (values (80), (100)) t (percent) on c.requests > 0 and c.requests * 100 >= l.per_month * t.percent
    where c.month = current_month()
        and not exists (
            select
            from events e
            where e.project_id = c.project_id
                and e.kind = 'quota.threshold'
                and e.once = c.key_type || ':' || c.month || ':' || t.percent
        );

    -- A week before the expiry, or when a tenth of a shorter lifetime is left.
    select raise_event(
        k.project_id, 'api_key.expiring',
        jsonb_build_object('key_id', 'key_' || k.id, 'name', k.name, 'prefix', k.prefix, 'expires_at', k.expires_at),
        'key_' || k.id
    )
    from api_keys k
    where k.deactivated_at is null
        and k.expires_at between now() and now() + interval '7 days'
        and k.expires_at - (k.expires_at - k.created_at) / 10 <= now()
        and not exists (
            select
            from events e
            where e.project_id = k.project_id
                and e.kind = 'api_key.expiring'
                and e.once = 'key_' || k.id
        );
$$;

comment on function raise_due_events() is
    'Raises the events that depend on time: 80 or 100 percent of a monthly quota used, a key that expires soon. Idempotent; several processes may run it at the same time.';

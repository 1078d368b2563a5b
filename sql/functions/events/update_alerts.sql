create or replace function update_alerts(moment timestamptz default now()) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- Once a minute for all proxies, because usage of all projects is read. A time in the future is that of a clock that has stepped back.
    with due as materialized (
        select
        where pg_try_advisory_xact_lock(hashtext('model_proxy update_alerts'))
            and not exists (select from installation i where i.alerts_measured_at between moment - interval '50 seconds' and moment)
    ),
    measured as materialized (
        select m.* from due cross join lateral measure_alerts(moment) m
    ),
    raised as (
        insert into active_alerts as a (project_id, kind, subject, raised_at, seen_at)
        select m.project_id, m.kind, m.subject, moment, moment
        from measured m
        where m.level >= 1
        on conflict (project_id, kind, subject) do update
        set seen_at = excluded.seen_at
        returning a.project_id, a.kind, a.subject, xmax = 0 as is_new
    ),
    recovered as (
        -- A fifth below the limit, so that a value that moves around the limit raises one alert.
        delete from active_alerts a
        using measured m
        where (m.project_id, m.kind, m.subject) = (a.project_id, a.kind, a.subject)
            and m.level <= 0.8
        returning a.project_id, a.kind, a.subject
    ),
    forgotten as (
        -- Too few requests to measure: nothing shows that it has recovered, but a later alert must be new.
        delete from active_alerts a
        where exists (select from due)
            and a.seen_at < moment - interval '1 day'
            and not exists (
                select from measured m where (m.project_id, m.kind, m.subject) = (a.project_id, a.kind, a.subject)
            )
    ),
    marked as (
        update installation set alerts_measured_at = moment where exists (select from due)
    ),
    changed as (
        select r.project_id, r.kind, r.subject, 'raised' as state from raised r where r.is_new
        union all
        select r.project_id, r.kind, r.subject, 'recovered' from recovered r
    )
    select raise_event(c.project_id, c.kind, jsonb_build_object('state', c.state) || m.payload)
    from changed c
    join measured m on (m.project_id, m.kind, m.subject) = (c.project_id, c.kind, c.subject);
$$;

comment on function update_alerts(timestamptz) is
    'Raises an event for each measure that has reached its limit since the last call, and one for each that has recovered. Called every minute by all proxies, of which one measures.';

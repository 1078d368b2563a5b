create or replace function claim_deliveries(max_rows integer)
returns table (
    id bigint,
    webhook_id bigint,
    project_id bigint,
    project text,
    url text,
    format webhook_format,
    sealed bytea,
    event_id text,
    kind text,
    at timestamptz,
    payload text
)
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with free as materialized (
        select w.id, d.id as delivery_id
        from webhooks w
        cross join lateral (
            select q.id
            from event_deliveries q
            where q.webhook_id = w.id and q.not_before <= now()
            order by q.not_before
            limit 1
        ) d
        where w.disabled_at is null
            and w.busy_until <= now()
        order by w.busy_until
        limit max_rows
        for update of w skip locked
    ),
    taken as (
        update webhooks w
        set busy_until = now() + interval '1 minute'
        from free f
        where w.id = f.id
    ),
    begun as (
        update event_deliveries d
        set attempts = d.attempts + 1,
            tried_at = now(),
            not_before = now() + interval '1 minute'
        from free f
        where d.id = f.delivery_id
        returning d.id, d.webhook_id, d.event_id
    )
    select b.id, w.id, w.project_id, p.name, w.url, w.format, w.sealed, e.id::text, e.kind, e.raised_at, e.payload::text
    from begun b
    join webhooks w on w.id = b.webhook_id
    join projects p on p.id = w.project_id
    join events e on e.id = b.event_id;
$$;

comment on function claim_deliveries(integer) is
    'Claims the next due delivery of up to that many webhooks; no other process gets deliveries of these webhooks for a minute, or until record_delivery_result().';

create or replace function page_of_deliveries(of_project bigint, of_webhook bigint, after_id bigint, page_size integer)
returns table (
    id bigint,
    webhook_id bigint,
    event_id uuid,
    kind text,
    at timestamptz,
    payload jsonb,
    state text,
    attempts integer,
    status integer,
    problem text,
    tried_at timestamptz,
    next_at timestamptz
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        d.id, d.webhook_id, e.id, e.kind, e.at, e.payload,
        case when d.not_before is not null then 'pending' when d.problem is null then 'delivered' else 'failed' end,
        d.attempts, d.status, d.problem, d.tried_at, d.not_before
    from event_deliveries d
    join webhooks w on w.id = d.webhook_id
    join events e on e.id = d.event_id
    where w.project_id = of_project
        and (of_webhook is null or w.id = of_webhook)
        and (after_id is null or d.id < after_id)
    order by d.id desc
    limit page_size;
$$;

comment on function page_of_deliveries(bigint, bigint, bigint, integer) is 'Deliveries of a project''s events, latest first, after a given one; of one webhook, or of all.';

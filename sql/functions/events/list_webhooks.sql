create or replace function list_webhooks(of_project bigint)
returns table (
    id bigint,
    url text,
    kinds text[],
    created_at timestamptz,
    disabled_at timestamptz,
    pending bigint,
    failed bigint
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select w.id, w.url, w.kinds, w.created_at, w.disabled_at, d.pending, d.failed
    from webhooks w
    cross join lateral (
        select
            count(*) filter (where q.not_before is not null) as pending,
            count(*) filter (where q.not_before is null and q.problem is not null) as failed
        from event_deliveries q
        where q.webhook_id = w.id
    ) d
    where w.project_id = of_project
    order by w.id;
$$;

comment on function list_webhooks(bigint) is 'A project''s webhooks, with how many of their deliveries are pending, and how many failed for good.';

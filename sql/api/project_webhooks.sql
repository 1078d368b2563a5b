create or replace view project_webhooks with (security_invoker = true) as
select
    w.id as _id,
    w.project_id as _project_id,
    w.url as _url,
    'webhook_' || w.id as id,
    -- Whoever knows the URL of an incoming webhook of Slack can post to its channel.
    case when w.format = 'slack' and current_project_role(w.project_id) <> 'owner' then hide_url_path(w.url) else w.url end as url,
    w.kinds as events,
    w.format,
    to_unix_seconds(w.created_at) as created_at,
    to_unix_seconds(w.disabled_at) as disabled_at,
    d.pending::natural_number as pending,
    d.failed::natural_number as failed
from webhooks w
cross join lateral (
    select
        count(*) filter (where q.not_before is not null) as pending,
        count(*) filter (where q.not_before is null and q.problem is not null) as failed
    from event_deliveries q
    where q.webhook_id = w.id
) d;

comment on view project_webhooks is 'Projects'' webhooks, as the admin API shows them.';
comment on column project_webhooks.url is 'The address to which events are posted, with the format email mailto: and an e-mail address. With the format slack, only owners see its path.';
comment on column project_webhooks.events is 'Empty: all.';
comment on column project_webhooks.disabled_at is 'When a 410 response disabled it. Null: it is active.';
comment on column project_webhooks.pending is 'The number of pending deliveries.';
comment on column project_webhooks.failed is 'Deliveries that are given up.';

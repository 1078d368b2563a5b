create or replace view project_deliveries with (security_invoker = true) as
select
    d.id as _id,
    d.project_id as _project_id,
    d.webhook_id as _webhook_id,
    e.id as event_id,
    e.kind,
    e.payload,
    case when d.not_before is not null then 'pending' when d.problem is null then 'delivered' else 'failed' end::delivery_state as state,
    d.attempts::natural_number as attempts,
    d.status,
    d.problem,
    'delivery_' || d.id as id,
    'webhook_' || d.webhook_id as webhook_id,
    to_unix_seconds(e.raised_at) as created_at,
    to_unix_seconds(d.tried_at) as tried_at,
    to_unix_seconds(d.not_before) as next_at
from event_deliveries d
join events e on e.id = d.event_id;

comment on view project_deliveries is 'Deliveries of projects'' events to webhooks.';
comment on column project_deliveries.status is 'The HTTP status, or the mail server''s reply code, of the last response. Null: there was none, or the mail was accepted.';
comment on column project_deliveries.problem is 'Why the last attempt failed. Null: it did not.';
comment on column project_deliveries.tried_at is 'Null: it was not yet.';
comment on column project_deliveries.next_at is 'Null: it is not tried again.';
comment on column project_deliveries.event_id is 'The event''s id, the same at each attempt.';
comment on column project_deliveries.state is 'Whether the event was delivered, or the delivery will be retried.';

create or replace view project_spend_alerts with (security_invoker = true) as
select
    a.id as _id,
    b.project_id as _project_id,
    'spend_alert_' || a.id as id,
    'USD' as currency,
    'month' as interval,
    round(a.amount * 100)::bigint as threshold_amount,
    row('email', a.recipients, a.subject_prefix)::notification_channel as notification_channel
from spend_alerts a
join budgets b on b.id = a.budget_id;

comment on view project_spend_alerts is 'Alerts on the monthly cost of a project; of the organization, if there is no project.';
comment on column project_spend_alerts.notification_channel is 'The recipients of the alert.';

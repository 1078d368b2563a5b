create or replace view project_spend_limits with (security_invoker = true) as
select
    b._id,
    b._project_id,
    'USD' as currency,
    'month' as interval,
    round(b.amount * 100)::bigint as threshold_amount,
    row(case when b.spent >= b.amount then 'enforcing' else 'inactive' end)::enforcement as enforcement
from project_budgets b
where b.unit = 'usd'
    and b.per = 'month'
    and coalesce(b.api_key_id, b.model, b.tag) is null;

comment on view project_spend_limits is 'The budget of US dollars a month.';
comment on column project_spend_limits.threshold_amount is 'US cents.';
comment on column project_spend_limits.currency is 'US dollars.';
comment on column project_spend_limits.interval is 'A calendar month, in UTC.';
comment on column project_spend_limits.enforcement is 'Whether it is used up.';

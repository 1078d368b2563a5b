create or replace view project_budgets with (security_invoker = true) as
select
    b.id as _id,
    b.project_id as _project_id,
    jsonb_build_array(b.key_id, b.tag, b.model, b.unit = 'tokens', -to_unix_seconds(nullif(p.ends, 'infinity')), b.id) as _place,
    'budget_' || b.id as id,
    b.model,
    (select t.name || '=' || t.value from jsonb_each_text(b.tag) as t (name, value)) as tag,
    b.unit::budget_unit as unit,
    b.amount,
    b.per::budget_length as per,
    b.time_zone,
    coalesce(c.spent, 0) as spent,
    coalesce(c.reserved, 0) as reserved,
    greatest(0, b.amount - coalesce(c.spent, 0) - coalesce(c.reserved, 0)) as remaining,
    to_unix_seconds(nullif(p.begins, 'epoch')) as begins_at,
    to_unix_seconds(nullif(p.ends, 'infinity')) as resets_at,
    'key_' || b.key_id as api_key_id,
    k.name as api_key_name,
    k.redacted_value as api_key_redacted_value,
    budget_warnings(b.id) as warnings
from budgets b
cross join lateral budget_period_at(b.per, b.time_zone, now()) p
left join budget_periods c on c.budget_id = b.id and c.begins = p.begins
left join api_keys k on k.id = b.key_id
where b.enforced;

comment on view project_budgets is 'Budgets in their present periods, as the admin API shows them; those without a project are the organization''s.';
comment on column project_budgets.model is 'Null: any.';
comment on column project_budgets.tag is 'As name=value. Null: any.';
comment on column project_budgets.reserved is 'The maximum cost of requests in flight.';
comment on column project_budgets.begins_at is 'Null: at no time, a total.';
comment on column project_budgets.resets_at is 'Null: never, a total.';
comment on column project_budgets.api_key_id is 'Null: any.';
comment on column project_budgets.api_key_name is 'Null: any.';
comment on column project_budgets.api_key_redacted_value is 'Null: any.';
comment on column project_budgets.spent is 'In this period.';
comment on column project_budgets.remaining is 'The amount that can still be reserved.';
comment on column project_budgets.warnings is 'Names in it that nothing has matched.';

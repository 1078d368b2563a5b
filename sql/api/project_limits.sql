create or replace view project_limits with (security_invoker = true) as
select
    p.id as _id,
    p.id as _project_id,
    p.plan,
    current_month() as month,
    array(select q from quota_usage(p.name, current_month()) q) as quotas,
    array(
        select
            row(
                'key_' || k.id,
                k.name,
                k.redacted_value,
                k.type,
                count(r.request_id),
                least(k.requests_per_minute, case k.type when 'test' then l.test_requests_per_minute else l.requests_per_minute_per_key end)
            )::key_activity
        from api_keys k
        left join usage_records r
            on r.project_id = k.project_id and r.key_id = k.id and r.recorded_at > now() - interval '1 minute' and r.recorded_at <= now()
        where k.project_id = p.id
            and k.deactivated_at is null
            and k.replaced_by is null
            and k.session_id is null
        group by k.id
        order by count(r.request_id) desc, k.id
    ) as keys
from projects p
join plans l on l.name = p.plan;

comment on view project_limits is 'How much of a project''s quotas is used, and of each active key''s limit; without keys of sessions.';
comment on column project_limits.month is 'Its first day, as 2026-10-01.';
comment on column project_limits.plan is 'The project''s plan.';
comment on column project_limits.quotas is 'Of the month, for keys of each type.';
comment on column project_limits.keys is 'The requests of each key in the last minute, and its limits.';

create or replace view project_rate_limits with (security_invoker = true) as
select
    w.id as _id,
    w.place as _place,
    p.id as _project_id,
    w.id,
    '*' as model,
    w.requests::natural_number as max_requests_per_1_minute,
    w.tokens::natural_number as max_tokens_per_1_minute
from projects p
join plans l on l.name = p.plan
cross join lateral (
    values
        (1, 'rl_project_key', l.requests_per_minute_per_key, l.tokens_per_minute_per_key),
        (2, 'rl_address', l.requests_per_minute_per_address, null),
        (3, 'rl_test_key', l.test_requests_per_minute, null)
) w (place, id, requests, tokens);

comment on view project_rate_limits is 'One window: it covers all models together.';
comment on column project_rate_limits.max_tokens_per_1_minute is 'Null: any number.';
comment on column project_rate_limits.model is 'All models together.';
comment on column project_rate_limits.max_requests_per_1_minute is 'Of one key, or of one address.';

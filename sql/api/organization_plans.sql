create or replace view organization_plans with (security_invoker = true) as
select
    p.name as _id,
    p.name as _name,
    jsonb_build_array(p.requests_per_month, p.name) as _place,
    p.name,
    p.requests_per_minute_per_key::natural_number as requests_per_minute_per_key,
    p.requests_per_minute_per_address::natural_number as requests_per_minute_per_address,
    p.tokens_per_minute_per_key::natural_number as tokens_per_minute_per_key,
    p.requests_per_month::natural_number as requests_per_month,
    p.test_requests_per_minute::natural_number as test_requests_per_minute,
    p.test_requests_per_month::natural_number as test_requests_per_month,
    p.max_cache_ttl_seconds::natural_number as max_cache_ttl_seconds,
    p.concurrent_requests::natural_number as concurrent_requests
from plans p;

comment on view organization_plans is 'Plans, as the admin API shows them.';
comment on column organization_plans.tokens_per_minute_per_key is 'Null: any number.';

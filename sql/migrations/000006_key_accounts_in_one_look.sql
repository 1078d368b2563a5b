-- A project's provider keys are looked up once for each key that is admitted, not twice.

create or replace view key_accounts as
select
    k.id as key_id,
    k.key_hash,
    k.type as key_type,
    k.prefix as key_prefix,
    case
        when k.deactivated_at is not null then 'disabled'
        when k.expires_at <= now() then 'expired'
        else 'active'
    end as verdict,
    k.project_id,
    p.name as project_name,
    case k.type when 'test' then pl.test_requests_per_month else pl.requests_per_month end as requests_per_month,
    case k.type when 'test' then pl.test_requests_per_minute else pl.requests_per_minute_per_key end as requests_per_minute,
    pl.requests_per_minute_per_address,
    p.semantic_enabled,
    p.semantic_threshold,
    p.semantic_guards,
    p.cache_ttl_seconds,
    p.cache_generation,
    coalesce(direct.providers, '{}') as direct_providers,
    -- Versions only grow: the highest changes with every key that is replaced, the providers with every one that comes or goes.
    coalesce(direct.highest_version, 0) as provider_keys_version,
    p.fallbacks
from api_keys k
join projects p on p.id = k.project_id
join plans pl on pl.name = p.plan
left join lateral (
    select array_agg(pk.provider order by pk.provider) as providers, max(pk.version) as highest_version
    from provider_keys pk
    where pk.project_id = k.project_id
) direct on true;

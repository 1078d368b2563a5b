-- The values that admission returns about a key, for all statements. The version in key_limits covers every table that this view reads.

create or replace view resolved_keys as
select
    -- A former value counts as its key.
    coalesce(k.replaced_by, k.id) as key_id,
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
    least(
        k.requests_per_minute,
        case k.type when 'test' then pl.test_requests_per_minute else pl.requests_per_minute_per_key end
    ) as requests_per_minute,
    pl.requests_per_minute_per_address,
    p.cache_generation,
    coalesce(direct.providers, '{}') as direct_providers,
    -- Versions only grow: each change of the keys changes the highest version or the list of providers.
    coalesce(direct.highest_version, 0) as provider_keys_version,
    longest.cache_ttl_seconds as max_cache_ttl_seconds,
    p.verdict_generation,
    pl.concurrent_requests,
    p.has_budgets,
    k.allowed_models as key_allowed_models,
    k.allowed_addresses,
    direct.named_keys as named_provider_keys,
    -- The settings as they apply to requests of the key.
    (
        select json_object_agg(s.key, case s.key
            when 'cache_ttl_seconds' then to_json(least(p.cache_ttl_seconds, longest.cache_ttl_seconds))
            when 'log_content' then to_json(coalesce(k.log_content, p.log_content))
            else s.value
        end)
        from json_each(to_json(p)) s
        where s.key in (select sk.name from setting_kinds sk)
    ) as settings,
    -- A test key's tokens are free.
    case k.type when 'project' then least(k.tokens_per_minute, pl.tokens_per_minute_per_key) end as tokens_per_minute,
    extract(epoch from k.minute_counted_until)::double precision as minute_counted_until,
    array(select r.action from cache_rights r where r.project_id = p.id and r.caller = k.type order by r.action) as cache_rights,
    k.redacted_value as key_redacted_value
from api_keys k
join projects p on p.id = k.project_id
join plans pl on pl.name = p.plan
left join lateral (
    select
        array_agg(distinct pk.provider order by pk.provider) as providers,
        max(pk.version) as highest_version,
        case when bool_or(pk.name <> 'default') then
            array_agg(pk.provider || '/' || pk.name || '/' || pk.weight order by pk.provider, pk.name)
        end as named_keys
    from provider_keys pk
    where pk.project_id = k.project_id
) direct on true
-- Entries of test keys expire within a day.
cross join lateral (
    select least(pl.max_cache_ttl_seconds, case k.type when 'test' then 86400 end) as cache_ttl_seconds
) longest;

comment on view resolved_keys is 'Every key that was ever issued, whether it is valid now, its project''s settings and its plan''s limits.';
comment on column resolved_keys.key_id is 'api_keys.id; of a former value, that of its key.';
comment on column resolved_keys.key_hash is 'SHA-256 of the whole key.';
comment on column resolved_keys.key_type is 'project or test.';
comment on column resolved_keys.key_prefix is 'The first characters of the key.';
comment on column resolved_keys.verdict is 'active, expired or disabled, as of now.';
comment on column resolved_keys.project_id is 'The one project that the key gives access to.';
comment on column resolved_keys.project_name is 'The name of the project.';
comment on column resolved_keys.requests_per_month is 'The plan''s quota for all keys of this type together.';
comment on column resolved_keys.requests_per_minute is 'The key''s own limit, or its plan''s, whichever is lower.';
comment on column resolved_keys.requests_per_minute_per_address is 'The plan''s limit per client address in the project.';
comment on column resolved_keys.cache_generation is 'Incremented by every purge.';
comment on column resolved_keys.direct_providers is 'Direct providers for which the project has stored a key, each once.';
comment on column resolved_keys.provider_keys_version is 'Grows with every stored provider key; 0 when there is none.';
comment on column resolved_keys.max_cache_ttl_seconds is 'Maximum lifetime of a cached response, whatever the request sets.';
comment on column resolved_keys.verdict_generation is 'Incremented by every verdict of a person and every correction of contexts; 1: there was none.';
comment on column resolved_keys.concurrent_requests is 'Maximum number of concurrent requests of the key in one process of the proxy.';
comment on column resolved_keys.has_budgets is 'Whether the project has any budget: the cost of requests is then reserved.';
comment on column resolved_keys.key_allowed_models is 'Patterns of the model names that the key may request, within those that the project allows. Null: all of these.';
comment on column resolved_keys.allowed_addresses is 'Networks of the addresses that the key may be used from. Null: any.';
comment on column resolved_keys.named_provider_keys is 'All keys for direct providers as provider/name/weight. Null: each provider has one key at most, named default.';
comment on column resolved_keys.settings is 'The project''s settings by name, within what the key and the plan allow.';
comment on column resolved_keys.tokens_per_minute is 'The key''s own limit, or its plan''s, whichever is lower. Null: none.';
comment on column resolved_keys.minute_counted_until is 'Seconds since the epoch until which the key''s minute is counted in the database, too. Null: never yet.';
comment on column resolved_keys.cache_rights is 'The rights of the key on cached responses within the sharing scope of its request: see the view cache_rights.';
comment on column resolved_keys.key_redacted_value is 'The key as lists show it.';

-- What admission returns about a key, in one place for all statements. The version in key_limits names every table that this view reads.

create or replace view key_accounts as
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
    p.semantic_threshold,
    least(p.cache_ttl_seconds, longest.cache_ttl_seconds) as cache_ttl_seconds,
    p.cache_generation,
    coalesce(direct.providers, '{}') as direct_providers,
    -- Versions only grow: adding, replacing and removing a key changes the highest one, or the providers.
    coalesce(direct.highest_version, 0) as provider_keys_version,
    p.fallbacks,
    longest.cache_ttl_seconds as max_cache_ttl_seconds,
    p.semantic_mode,
    p.semantic_policy,
    p.semantic_risk,
    p.cache_mode,
    p.semantic_judge,
    p.semantic_judge_model,
    p.semantic_judge_daily_usd,
    p.semantic_judge_floor,
    p.semantic_judge_timeout_ms,
    p.verdict_generation,
    pl.concurrent_requests,
    p.semantic_verify_ratio,
    nullif(p.allowed_models, '{}') as allowed_models,
    coalesce(k.log_content, p.log_content) as log_content,
    p.when_exhausted,
    p.unsupported_tools,
    p.has_budgets,
    nullif(p.aliases, '{}') as aliases,
    k.allowed_models as key_allowed_models,
    k.allowed_addresses,
    direct.named_keys as named_provider_keys,
    -- A test key's tokens are free.
    case k.type when 'project' then least(k.tokens_per_minute, pl.tokens_per_minute_per_key) end as tokens_per_minute,
    p.anthropic_cache_marks,
    extract(epoch from k.minute_counted_until)::double precision as minute_counted_until
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
-- Entries of test keys live at most a day.
cross join lateral (
    select least(pl.max_cache_ttl_seconds, case k.type when 'test' then 86400 end) as cache_ttl_seconds
) longest;

comment on view key_accounts is 'Every key that was ever issued, whether it is valid now, its project''s settings and its plan''s limits.';
comment on column key_accounts.key_id is 'api_keys.id; of a former value, that of its key.';
comment on column key_accounts.key_hash is 'SHA-256 of the whole key.';
comment on column key_accounts.key_type is 'project or test.';
comment on column key_accounts.key_prefix is 'The first characters of the key.';
comment on column key_accounts.verdict is 'active, expired or disabled, as of now.';
comment on column key_accounts.project_id is 'The one project that the key opens.';
comment on column key_accounts.project_name is 'What operators call the project.';
comment on column key_accounts.requests_per_month is 'The plan''s quota for all keys of this type together.';
comment on column key_accounts.requests_per_minute is 'The key''s own limit, or its plan''s, whichever is lower.';
comment on column key_accounts.requests_per_minute_per_address is 'The plan''s limit per client address in the project.';
comment on column key_accounts.semantic_threshold is 'Cosine similarity above which two questions may count as the same.';
comment on column key_accounts.cache_ttl_seconds is 'Lifetime of a stored response, unless the request sets another.';
comment on column key_accounts.cache_generation is 'Incremented by every purge.';
comment on column key_accounts.direct_providers is 'Direct providers for which the project has stored a key, each once.';
comment on column key_accounts.provider_keys_version is 'Grows with every stored provider key; 0 when there is none.';
comment on column key_accounts.fallbacks is 'Models used, in this order, in place of one that cannot be reached.';
comment on column key_accounts.max_cache_ttl_seconds is 'Longest lifetime of a stored response, whatever the request says.';
comment on column key_accounts.semantic_mode is 'on, shadow or off: whether a differently worded question may be answered from the cache.';
comment on column key_accounts.semantic_policy is 'verified, proved, judged or threshold: which semantic matches are served.';
comment on column key_accounts.semantic_risk is 'careful, balanced or generous: under the policy verified, how much must speak for a match.';
comment on column key_accounts.cache_mode is 'all, deterministic or off: which requests may be answered from the cache at all.';
comment on column key_accounts.semantic_judge is 'inline, learn or off: whether a judge is asked about candidates that proof cannot decide, during the request or later.';
comment on column key_accounts.semantic_judge_model is 'The judge''s model; empty for none.';
comment on column key_accounts.semantic_judge_daily_usd is 'The judge''s daily budget.';
comment on column key_accounts.semantic_judge_floor is 'Lowest similarity at which the judge is asked.';
comment on column key_accounts.semantic_judge_timeout_ms is 'How long a request waits for the judge, in milliseconds.';
comment on column key_accounts.verdict_generation is 'Incremented by every pair that a person called wrong.';
comment on column key_accounts.concurrent_requests is 'Most concurrent requests of the key in one process of the proxy.';
comment on column key_accounts.semantic_verify_ratio is 'Share of the semantic hits that the judge reviews afterwards.';
comment on column key_accounts.allowed_models is 'Patterns of model names that clients may ask for; null for any.';
comment on column key_accounts.log_content is 'off or sealed: whether what requests say and get is stored, encrypted, for people to look at.';
comment on column key_accounts.when_exhausted is 'serve_cache or refuse: whether hits are answered once the quota or a budget is used up.';
comment on column key_accounts.unsupported_tools is 'drop or refuse: what becomes of tools that the model''s provider would have to run and cannot.';
comment on column key_accounts.has_budgets is 'Whether the project has any budget: then what requests may cost is reserved.';
comment on column key_accounts.aliases is 'Names that clients may ask for in place of models, as in projects; null for none.';
comment on column key_accounts.key_allowed_models is 'Patterns of model names that the key may ask for within those; null for all of them.';
comment on column key_accounts.allowed_addresses is 'Networks of the addresses that the key may be used from; null for any.';
comment on column key_accounts.named_provider_keys is 'All keys for direct providers as provider/name/weight; null where each provider has one key at most, named default.';
comment on column key_accounts.tokens_per_minute is 'The key''s own limit, or its plan''s, whichever is lower; null for none.';
comment on column key_accounts.anthropic_cache_marks is 'off or on: whether prompts sent to Anthropic are marked for its cache.';
comment on column key_accounts.minute_counted_until is 'Seconds since the epoch until which the key''s minute is counted in the database, too; null: never yet.';

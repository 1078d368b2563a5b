-- What admission says of a key, in one place for all of its statements.

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
    least(p.cache_ttl_seconds, longest.cache_ttl_seconds) as cache_ttl_seconds,
    p.cache_generation,
    coalesce(direct.providers, '{}') as direct_providers,
    -- Versions only grow: the highest changes with every key that is replaced, the providers with every one that comes or goes.
    coalesce(direct.highest_version, 0) as provider_keys_version,
    p.fallbacks,
    longest.cache_ttl_seconds as max_cache_ttl_seconds,
    p.semantic_mode,
    p.semantic_policy,
    p.cache_mode,
    p.semantic_judge,
    p.semantic_judge_model,
    p.semantic_judge_daily_usd,
    p.semantic_judge_floor,
    p.semantic_judge_timeout_ms,
    p.verdict_generation,
    case when p.semantic_error_rate > 0 then p.learned_threshold else 2 end as learned_threshold,
    pl.concurrent_requests,
    p.semantic_verify_ratio,
    p.equivalences_version,
    p.allowed_models,
    p.log_content
from api_keys k
join projects p on p.id = k.project_id
join plans pl on pl.name = p.plan
left join lateral (
    select array_agg(pk.provider order by pk.provider) as providers, max(pk.version) as highest_version
    from provider_keys pk
    where pk.project_id = k.project_id
) direct on true
-- Entries of test keys live at most a day.
cross join lateral (
    select least(pl.max_cache_ttl_seconds, case k.type when 'test' then 86400 end) as cache_ttl_seconds
) longest;

comment on view key_accounts is 'Every key that was ever issued, with whether it opens anything now, its project''s settings and its plan''s limits.';
comment on column key_accounts.key_id is 'api_keys.id.';
comment on column key_accounts.key_hash is 'SHA-256 of the whole key.';
comment on column key_accounts.key_type is 'project or test.';
comment on column key_accounts.key_prefix is 'The first characters of the key.';
comment on column key_accounts.verdict is 'active, expired or disabled, as of now.';
comment on column key_accounts.project_id is 'The one project that the key opens.';
comment on column key_accounts.project_name is 'What operators call the project.';
comment on column key_accounts.requests_per_month is 'The plan''s quota for keys of this type together.';
comment on column key_accounts.requests_per_minute is 'The plan''s limit for this one key.';
comment on column key_accounts.requests_per_minute_per_address is 'The plan''s limit for one client address in the project.';
comment on column key_accounts.semantic_enabled is 'Whether semantic_mode is on; for the release before.';
comment on column key_accounts.semantic_threshold is 'Cosine similarity above which two questions may count as the same.';
comment on column key_accounts.semantic_guards is 'Whether semantic_policy asks for more than similarity; for the release before.';
comment on column key_accounts.cache_ttl_seconds is 'How long an answer stays in the cache unless the request says otherwise.';
comment on column key_accounts.cache_generation is 'Raised by every purge.';
comment on column key_accounts.direct_providers is 'Providers that the project has stored a key of its own for.';
comment on column key_accounts.provider_keys_version is 'Higher after every such key that was stored; 0: none is.';
comment on column key_accounts.fallbacks is 'Models that stand in, in this order, for one that cannot be reached.';
comment on column key_accounts.max_cache_ttl_seconds is 'Longest that an answer to this key may stay in the cache, whatever the request says.';
comment on column key_accounts.semantic_mode is 'on, shadow or off: whether a differently worded question may be answered from the cache.';
comment on column key_accounts.semantic_policy is 'proved, judged or threshold: which of them.';
comment on column key_accounts.cache_mode is 'all, deterministic or off: which requests may be answered from the cache at all.';
comment on column key_accounts.semantic_judge is 'inline, learn or off: whether a judge is asked what proof cannot decide, while the request waits or afterwards.';
comment on column key_accounts.semantic_judge_model is 'The judge; empty: none.';
comment on column key_accounts.semantic_judge_daily_usd is 'What it may cost in a day.';
comment on column key_accounts.semantic_judge_floor is 'Least similarity that is worth asking it about.';
comment on column key_accounts.semantic_judge_timeout_ms is 'How long a request waits for it, in milliseconds.';
comment on column key_accounts.learned_threshold is 'Similarity above which undecided questions are wrong no oftener than semantic_error_rate; above 1: none.';
comment on column key_accounts.verdict_generation is 'Raised by every pair that a person called wrong.';
comment on column key_accounts.concurrent_requests is 'Most requests of the key that are under way at the same time in one process of the proxy.';
comment on column key_accounts.semantic_verify_ratio is 'Which part of the semantic hits the judge looks at afterwards.';
comment on column key_accounts.equivalences_version is 'Raised by every change of the exchanges of words that are harmless in the project; 0: there never was one.';
comment on column key_accounts.allowed_models is 'Patterns of the model names that clients may ask for; null: any.';
comment on column key_accounts.log_content is 'off or sealed: whether wordings are kept for people to look at.';

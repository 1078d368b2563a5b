-- Prices under a condition, in US dollars per million tokens. Columns as in 010_models.sql.
--
-- If a response reports its own cost, as the aggregator's do, that cost applies instead.

-- Anthropic charges twice the input price for cache writes with a lifetime of an hour, for every model.
update models
set cache_write_hour_usd_per_million = input_usd_per_million * 2
where provider = 'anthropic'
    and source <> 'operator'
    and cache_write_hour_usd_per_million is distinct from input_usd_per_million * 2;

insert into model_prices (
    provider, model, tier, above_prompt_tokens,
    input_usd_per_million, cached_input_usd_per_million, cache_write_usd_per_million, cache_write_hour_usd_per_million,
    output_usd_per_million, source, checked_at
)
values
    ('openai', 'gpt-4.1', 'priority', 0, 3.5, 0.875, null, null, 14, 'developers.openai.com/api/docs/pricing, via litellm', date '2026-07-24'),
    ('openai', 'gpt-4.1-mini', 'priority', 0, 0.7, 0.175, null, null, 2.8, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-4.1-nano', 'priority', 0, 0.2, 0.05, null, null, 0.8, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-4o', 'priority', 0, 4.25, 2.125, null, null, 17, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-4o-mini', 'priority', 0, 0.25, 0.125, null, null, 1, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5', 'flex', 0, 0.625, 0.0625, null, null, 5, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5', 'priority', 0, 2.5, 0.25, null, null, 20, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5-mini', 'flex', 0, 0.125, 0.0125, null, null, 1, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5-mini', 'priority', 0, 0.45, 0.045, null, null, 3.6, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5-nano', 'flex', 0, 0.025, 0.0025, null, null, 0.2, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.1', 'priority', 0, 2.5, 0.25, null, null, 20, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.2', 'priority', 0, 3.5, 0.35, null, null, 28, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.3-chat-latest', 'priority', 0, 3.5, 0.35, null, null, 28, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.4', 'flex', 0, 1.25, 0.13, null, null, 7.5, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.4', 'priority', 0, 5, 0.5, null, null, 30, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.4', 'standard', 272000, 5, 0.5, null, null, 22.5, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.4-mini', 'flex', 0, 0.375, 0.0375, null, null, 2.25, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.4-mini', 'priority', 0, 1.5, 0.15, null, null, 9, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.4-nano', 'flex', 0, 0.1, 0.01, null, null, 0.625, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.5', 'flex', 0, 2.5, 0.25, null, null, 15, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.5', 'priority', 0, 10, 1, null, null, 60, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'gpt-5.5', 'standard', 272000, 10, 1, null, null, 45, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'o3', 'flex', 0, 1, 0.25, null, null, 4, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'o3', 'priority', 0, 3.5, 0.875, null, null, 14, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'o4-mini', 'flex', 0, 0.55, 0.1375, null, null, 2.2, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('openai', 'o4-mini', 'priority', 0, 2, 0.5, null, null, 8, 'developers.openai.com/api/docs/pricing, via litellm', '2026-07-24'),
    ('anthropic', 'claude-sonnet-4-5', 'standard', 200000, 6, 0.6, 7.5, 12, 22.5, 'platform.claude.com/docs/en/about-claude/pricing, via litellm', '2026-07-24')
union all
-- Anthropic's fast mode costs twice as much, for prompts of any length: platform.claude.com/docs/en/build-with-claude/fast-mode. Processing
-- in one region costs a tenth more, from Opus 4.6 on: platform.claude.com/docs/en/about-claude/pricing. The two factors multiply. As of
-- 2026-11-23.
select
    m.provider,
    m.model,
    t.tier,
    0,
    m.input_usd_per_million * t.factor,
    m.cached_input_usd_per_million * t.factor,
    m.cache_write_usd_per_million * t.factor,
    m.cache_write_hour_usd_per_million * t.factor,
    m.output_usd_per_million * t.factor,
    'platform.claude.com/docs/en/about-claude/pricing',
    date '2026-11-23'
from models m
cross join (values ('us', 1.1), ('fast', 2), ('fast-us', 2.2)) as t (tier, factor)
where m.provider = 'anthropic'
    and m.model not in ('claude-haiku-4-5', 'claude-haiku-4-5-20251001', 'claude-opus-4-1', 'claude-opus-4-5', 'claude-sonnet-4-5')
    and (t.tier = 'us' or m.model in ('claude-opus-4-8', 'claude-opus-5', 'claude-opus-5-5'))
on conflict (provider, model, tier, above_prompt_tokens) do update
set input_usd_per_million = excluded.input_usd_per_million,
    cached_input_usd_per_million = excluded.cached_input_usd_per_million,
    cache_write_usd_per_million = excluded.cache_write_usd_per_million,
    cache_write_hour_usd_per_million = excluded.cache_write_hour_usd_per_million,
    output_usd_per_million = excluded.output_usd_per_million,
    source = excluded.source,
    checked_at = excluded.checked_at
where model_prices.source <> 'operator' and model_prices.checked_at <= excluded.checked_at;

-- developers.openai.com/api/docs/models/gpt-image-1.
update models
set retires_on = coalesce(retires_on, '2026-10-23'),
    successor = coalesce(successor, 'gpt-image-2.5-sunburst')
where provider = 'openai'
    and model = 'gpt-image-1'
    and (retires_on is null or successor is null);

-- platform.claude.com/docs/en/about-claude/model-deprecations, via litellm, 2026-07-24; the successor from Anthropic's release notes of
-- 2026-06-15 for the model before it.
update models
set retires_on = coalesce(retires_on, '2026-08-05'),
    successor = coalesce(successor, 'claude-opus-4-8')
where provider = 'anthropic'
    and model = 'claude-opus-4-1'
    and (retires_on is null or successor is null);

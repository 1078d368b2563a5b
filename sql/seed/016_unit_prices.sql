-- Prices of units other than text tokens. checked_at is when a stored copy of the source was read, or the source's own date if it has one.
insert into model_unit_prices (provider, model, unit, usd, source, checked_at)
select m.provider, m.model, v.unit, v.usd, v.source, v.checked_at
from (values
    ('openai', 'gpt-image-1', 'image_input', 10, 'developers.openai.com/api/docs/models/gpt-image-1', date '2026-11-23'),
    ('openai', 'gpt-image-1-mini', 'image_input', 2.5, 'developers.openai.com/api/docs/models/gpt-image-1-mini', date '2026-11-23'),
    ('openai', 'gpt-4o-transcribe', 'audio_input', 2.5, 'developers.openai.com/api/docs/models/gpt-4o-transcribe', date '2026-11-23'),
    (
        'openai', 'gpt-4o-mini-transcribe', 'audio_input', 1.25,
        'developers.openai.com/api/docs/models/compare?model=gpt-4o-mini-transcribe', date '2026-11-23'
    ),
    ('openai', 'gpt-4o-mini-realtime-preview', 'audio_input', 10, 'developers.openai.com/api/docs/models/gpt-4o-mini-realtime-preview', date '2026-11-23'),
    ('openai', 'gpt-4o-mini-realtime-preview', 'cached_audio_input', 0.3, 'developers.openai.com/api/docs/models/gpt-4o-mini-realtime-preview', date '2026-11-23'),
    ('openai', 'gpt-4o-mini-realtime-preview', 'audio_output', 20, 'developers.openai.com/api/docs/models/gpt-4o-mini-realtime-preview', date '2026-11-23'),
    ('openai', 'gpt-realtime-1.5', 'audio_input', 32, 'developers.openai.com/api/docs/models/gpt-realtime-1.5', date '2026-11-23'),
    ('openai', 'gpt-realtime-1.5', 'cached_audio_input', 0.4, 'developers.openai.com/api/docs/models/gpt-realtime-1.5', date '2026-11-23'),
    ('openai', 'gpt-realtime-1.5', 'audio_output', 64, 'developers.openai.com/api/docs/models/gpt-realtime-1.5', date '2026-11-23'),
    ('openai', 'gpt-realtime-1.5', 'image_input', 5, 'developers.openai.com/api/docs/models/gpt-realtime-1.5', date '2026-11-23'),
    ('openai', 'gpt-realtime-2', 'audio_input', 32, 'developers.openai.com/api/docs/models/gpt-realtime-2', date '2026-11-23'),
    ('openai', 'gpt-realtime-2', 'cached_audio_input', 0.4, 'developers.openai.com/api/docs/models/gpt-realtime-2', date '2026-11-23'),
    ('openai', 'gpt-realtime-2', 'audio_output', 64, 'developers.openai.com/api/docs/models/gpt-realtime-2', date '2026-11-23'),
    ('openai', 'gpt-realtime-2', 'image_input', 5, 'developers.openai.com/api/docs/models/gpt-realtime-2', date '2026-11-23'),
    ('openai', 'gpt-realtime-2.1-mini', 'audio_input', 10, 'developers.openai.com/api/docs/models/gpt-realtime-2.1-mini', date '2026-11-23'),
    ('openai', 'gpt-realtime-2.1-mini', 'cached_audio_input', 0.3, 'developers.openai.com/api/docs/models/gpt-realtime-2.1-mini', date '2026-11-23'),
    ('openai', 'gpt-realtime-2.1-mini', 'audio_output', 20, 'developers.openai.com/api/docs/models/gpt-realtime-2.1-mini', date '2026-11-23'),
    ('openai', 'gpt-realtime-2.1-mini', 'image_input', 0.8, 'developers.openai.com/api/docs/models/gpt-realtime-2.1-mini', date '2026-11-23'),
    ('aggregator', 'perplexity/sonar', 'request', 0.005, 'openrouter.ai/perplexity/sonar', date '2026-11-28'),
    ('aggregator', 'perplexity/sonar-pro', 'request', 0.005, 'openrouter.ai/perplexity/sonar-pro', date '2026-11-28'),
    -- For every chat model of the vendor: a thousand searches cost 10 dollars. OpenAI's web_search_preview costs 25 with models that do not
    -- reason.
    ('anthropic', null, 'search', 0.01, 'platform.claude.com/docs/en/about-claude/pricing, via claudecodeguides.com', date '2026-11-23'),
    ('openai', null, 'search', 0.01, 'developers.openai.com/api/docs/pricing, via modelcostwatch.com', date '2026-03-12'),
    ('openai', null, 'file_search', 0.0025, 'developers.openai.com/api/docs/pricing, via modelcostwatch.com', date '2026-03-12'),
    -- For 20 minutes: 4 GB cost 0.12 dollars, 64 GB cost 1.92. Shorter sessions cost less since June 2026, but no response reports the
    -- duration.
    ('openai', null, 'container', 0.03, 'developers.openai.com/api/docs/pricing, via simoncarter.ai', date '2026-06-02')
) as v (provider, model, unit, usd, source, checked_at)
join models m on m.provider = v.provider and case when v.model is null then m.kind = 'chat' else m.model = v.model end
on conflict (provider, model, unit) do update
set usd = excluded.usd,
    source = excluded.source,
    checked_at = excluded.checked_at
where model_unit_prices.source <> 'operator' and model_unit_prices.checked_at <= excluded.checked_at;

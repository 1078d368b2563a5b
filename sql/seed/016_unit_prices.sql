-- Prices of what is counted apart from text. A row "from memory" was not read: check it against that page before you bill by it.
insert into model_unit_prices (provider, model, unit, usd, source, checked_at)
select m.provider, m.model, v.unit, v.usd, v.source, v.checked_at
from (values
    ('openai', 'gpt-image-1', 'image_input', 10, 'developers.openai.com/api/docs/pricing (from memory)', date '2025-04-23'),
    ('openai', 'gpt-4o-transcribe', 'audio_input', 6, 'developers.openai.com/api/docs/pricing (from memory)', date '2025-03-20'),
    ('openai', 'gpt-4o-mini-transcribe', 'audio_input', 3, 'developers.openai.com/api/docs/pricing (from memory)', date '2025-03-20'),
    -- For every chat model of the vendor's: a thousand searches are 10 dollars.
    ('anthropic', null, 'search', 0.01, 'platform.claude.com/docs/en/about-claude/pricing (from memory)', date '2025-05-07'),
    ('openai', null, 'search', 0.01, 'developers.openai.com/api/docs/pricing (from memory)', date '2025-08-26')
) as v (provider, model, unit, usd, source, checked_at)
join models m on m.provider = v.provider and case when v.model is null then m.kind = 'chat' else m.model = v.model end
on conflict (provider, model, unit) do update
set usd = excluded.usd,
    source = excluded.source,
    checked_at = excluded.checked_at
where model_unit_prices.source <> 'operator' and model_unit_prices.checked_at <= excluded.checked_at;

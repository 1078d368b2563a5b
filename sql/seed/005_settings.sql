-- Settings of projects. A new one is a row here, and a column of projects in a migration.
insert into setting_kinds (name, type, least, most, words, help)
values
    ('semantic_mode', 'choice', null, null, '{on,shadow,off}', 'Whether a differently worded question may be answered from the cache; shadow records what would be served, and asks the provider.'),
    ('semantic_policy', 'choice', null, null, '{verified,proved,judged,threshold}', 'Which matches are served: verified, nothing speaks against them; proved, every difference is harmless; judged, also those that a judge confirmed; threshold, all that are similar enough.'),
    ('semantic_risk', 'choice', null, null, '{careful,balanced,generous}', 'Under the policy verified, how little must speak for a match.'),
    ('semantic_threshold', 'number', 0, 1, array['a number'], 'Cosine similarity above which two questions may count as the same.'),
    ('semantic_judge', 'choice', null, null, '{off,learn,inline}', 'Under the policy judged, whether a model is asked about what proof cannot decide: afterwards (learn), or while the request waits (inline).'),
    ('semantic_judge_model', 'text', 0, 256, array['a model''s name of at most 256 characters, or nothing'], 'The judge: the name of a model that the project can use; empty for none.'),
    ('semantic_judge_daily_usd', 'number', 0, 1000000, array['US dollars'], 'The judge''s budget per UTC day, in US dollars.'),
    ('semantic_judge_floor', 'number', 0, 1, array['a number'], 'Lowest similarity to ask the judge about.'),
    ('semantic_judge_timeout_ms', 'whole', 1, 60000, array['whole milliseconds'], 'How long a request waits for the judge, in milliseconds.'),
    ('semantic_verify_ratio', 'number', 0, 1, array['a number'], 'Share of the semantic hits that the judge reviews after they were served.'),
    ('cache_mode', 'choice', null, null, '{all,deterministic,off}', 'Which requests may be answered from the cache at all: deterministic, those with temperature 0 or a seed.'),
    ('cache_ttl_seconds', 'whole', 0, 315360000, array['whole seconds'], 'Lifetime of a cached answer, in seconds.'),
    ('cache_bytes', 'whole', 0, null, array['whole bytes'], 'Most bytes that the project may store.'),
    ('fallbacks', 'models', 0, 5, array['up to 5 different model names with commas between them, or nothing'], 'Models to ask in turn when the requested one fails; empty for none.'),
    ('allowed_models', 'models', 0, 100, array['up to 100 different model names with commas between them, * in them for any characters, or nothing'], 'Models that clients may ask for, with * for any characters; empty for all.'),
    ('log_content', 'choice', null, null, '{off,sealed}', 'Whether the wordings of semantic hits and near misses are kept for a week, encrypted, for members to see.'),
    ('unsupported_tools', 'choice', null, null, '{drop,refuse}', 'Tools that the model''s provider would have to run and cannot, where the model may choose: left out, or a 400.'),
    ('when_exhausted', 'choice', null, null, '{serve_cache,refuse}', 'Once the quota or a budget is used up: whether hits are still answered, or nothing is.')
on conflict (name) do update
set type = excluded.type,
    least = excluded.least,
    most = excluded.most,
    words = excluded.words,
    help = excluded.help;

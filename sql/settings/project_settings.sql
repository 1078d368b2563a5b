-- The settings of projects. To add a setting, add a row. Its column, its TypeScript type and its field in the dashboard are derived from the
-- row. The dashboard shows the fields in this order.
insert into setting_kinds (name, type, preset, least, most, words, area, title, help, choices, place)
select v.*, row_number() over ()
from (values
    ('cache_mode', 'choice', 'all', null, null, '{all,deterministic,off}', 'Cache hits', 'Cache mode', 'Which requests may be answered from the cache.', array[
        'All requests: Unless a request forbids it.',
        'Deterministic requests: With temperature 0 or a seed. All others are forwarded to the provider.',
        'Off: Responses are neither looked up nor cached.'
    ]),
    ('semantic_mode', 'choice', 'on', null, null, '{on,shadow,off}', 'Cache hits', 'Semantic hits', 'Whether a differently worded question may be answered from the cache.', array[
        'On: Served if the match policy accepts the match.',
        'Shadow: Requests are forwarded to the provider. Semantic hits shows what the cache would have served.',
        'Off: Only identical requests are answered from the cache.'
    ]),
    ('semantic_policy', 'choice', 'verified', null, null, '{verified,proved,judged,threshold}', 'Cache hits', 'Match policy', 'Which matches are served.', array[
        'Verified: Questions that ask the same, as far as the verifier can tell.',
        'Proved: Only questions with the same text after normalization. Similarity is not used.',
        'Judged: Verified matches, and pairs that the judge has confirmed.',
        'Similarity only: Every match above the threshold. Expect wrong responses: see Threshold simulation on the cache page first.'
    ]),
    ('semantic_risk', 'choice', 'balanced', null, null, '{careful,balanced,generous}', 'Cache hits', 'Verifier', 'How sure the verifier must be that two questions ask the same.', array[
        'Careful: Fewer hits, hardly any of them wrong.',
        'Balanced: About a quarter more hits.',
        'Generous: About twice as many hits, of which more are wrong.'
    ]),
    ('semantic_threshold', 'number', '0.95', 0, 1, array['a number'], 'Cache hits', 'Similarity threshold', 'Minimum score of a match by the verifier, or its cosine where similarity alone decides, from 0 to 1. Pairs that a person or the judge has confirmed may be below it.', '{}'),
    ('semantic_contexts', 'contexts', '{}', 0, 100, array['up to 100 hashes of contexts with commas between them, each as hash=question or hash=wording, or nothing'], 'Cache hits', 'Corrected contexts', 'Instructions, by their hash, after which the wording of a question does not matter (hash=question) or matters (hash=wording), whatever the cache recognizes. Cache explanations show the hash.', '{}'),
    ('semantic_judge', 'choice', 'off', null, null, '{off,learn,inline}', 'Judge', 'Judge', 'Whether a model compares pairs of questions that the verifier leaves undecided. Applies to the match policy Judged.', array[
        'Off: Only people give verdicts, under Semantic hits and Near misses.',
        'After the request: Requests do not wait. Verdicts apply to later requests.',
        'During the request: The request waits for the verdict before it is forwarded to a provider.'
    ]),
    ('semantic_judge_model', 'text', '', 0, 256, array['a model''s name of at most 256 characters, or nothing'], 'Judge', 'Judge model', 'Any model that the project can use, such as openai/gpt-4.1-mini. The model must support structured outputs (JSON schema).', '{}'),
    ('semantic_judge_daily_usd', 'number', '1', 0, 1000000, array['US dollars'], 'Judge', 'Daily budget, in US dollars', 'Per UTC day. When it is spent, the judge is not called.', '{}'),
    ('semantic_judge_timeout_ms', 'whole', '800', 1, 60000, array['whole milliseconds'], 'Judge', 'Timeout, in milliseconds', 'How long a request waits for the judge. A later verdict applies to the next request.', '{}'),
    ('semantic_judge_floor', 'number', '0.8', 0, 1, array['a number'], 'Judge', 'Minimum similarity', 'Less similar pairs are not sent to the judge, and its verdicts on them do not apply. A person’s verdict applies at any similarity.', '{}'),
    ('semantic_verify_ratio', 'number', '0', 0, 1, array['a number'], 'Judge', 'Share of hits to verify', 'From 0 to 1. The judge checks this share of semantic hits afterwards, under every match policy. A pair that it finds different is not served again.', '{}'),
    ('cache_scope', 'choice', 'project', null, null, '{project,key,user}', 'Sharing', 'Sharing scope', 'Which callers may receive cached responses to requests of others. This applies to exact hits, semantic hits and coalesced requests. Responses that were cached in another scope are not served.', array[
        'Whole project: All callers share. A first-person question (I, my) of a named end user matches only that user’s questions.',
        'Same API key: Nothing is shared between keys.',
        'Same end user: Named by safety_identifier, user or metadata.user_id. Requests without an end user share within their key.'
    ]),
    ('cache_feedback', 'choice', 'members', null, null, '{any,members,none}', 'Sharing', 'Feedback on matches', 'Who may mark semantic hits and near misses as right or wrong. A verdict applies within the sharing scope of its request.', array[
        'All callers: Members, and every API key for requests of its own sharing scope.',
        'Members: Members and owners only, in the dashboard or with an admin key.',
        'Nobody: Only operators, with psql.'
    ]),
    ('cache_ttl_seconds', 'whole', '604800', 0, 315360000, array['whole seconds'], 'Lifetime', 'Time to live', 'How long a response is cached, unless the request sets another time. The plan sets the maximum.', '{}'),
    ('cache_bytes', 'whole', '1073741824', 0, null, array['whole bytes'], 'Lifetime', 'Maximum cache size', 'When the cache is larger, the responses that expire first are deleted. Checked once a minute.', '{}'),
    ('cache_refresh', 'choice', 'any', null, null, '{any,none}', 'Lifetime', 'Cache refresh', 'Whether the response to a request that bypasses the cache (Cache-Control: no-cache or max-age) replaces the cached response.', array[
        'Allowed: Later requests get the new response.',
        'Not allowed: The new response is not cached.'
    ]),
    ('allowed_models', 'models', '{}', 0, 100, array['up to 100 different model names with commas between them, * in them for any characters, or nothing'], 'Models', 'Allowed models', 'Patterns of model names, such as openai/*, separated by commas. Leave empty to allow all models.', '{}'),
    ('aliases', 'aliases', '{}', 0, 100, array['up to 100 names with commas between them, each with the model that it stands for, name=model, and up to five fallbacks, name=model|fallback, of at most 256 characters, or nothing'], 'Models', 'Aliases', 'Alternative model names for clients, such as fast=gpt-5.4-mini, separated by commas. An alias may have its own fallbacks: smart=gpt-5.4|claude-opus-4-8.', '{}'),
    ('fallbacks', 'models', '{}', 0, 5, array['up to 5 different model names with commas between them, or nothing'], 'Models', 'Fallback models', 'Up to five models, separated by commas. They are called in this order when a model is unavailable.', '{}'),
    ('first_token_timeout_ms', 'durations', '{}', 1, 3600000, array['whole milliseconds from 1 to 3600000, for all models or for one, model=milliseconds, up to 100 with commas between them and * in names for any characters, or nothing'], 'Timeouts and streams', 'First token timeout', 'In milliseconds, from the request to the first text, reasoning or tool call of a stream; for all models, and for single models: 20000, gpt-5.4=90000. Empty: 30 seconds while a fallback is left, otherwise the installation’s limit.', '{}'),
    ('idle_timeout_ms', 'durations', '{}', 1, 3600000, array['whole milliseconds from 1 to 3600000, for all models or for one, model=milliseconds, up to 100 with commas between them and * in names for any characters, or nothing'], 'Timeouts and streams', 'Token timeout', 'In milliseconds, from one token of a stream to the next; for all models, and for single models. Empty: the installation’s limit.', '{}'),
    ('response_timeout_ms', 'durations', '{}', 1, 3600000, array['whole milliseconds from 1 to 3600000, for all models or for one, model=milliseconds, up to 100 with commas between them and * in names for any characters, or nothing'], 'Timeouts and streams', 'Response timeout', 'In milliseconds, from the request to the end of a response that is not streamed; for all models, and for single models. Empty: no limit beyond the installation’s.', '{}'),
    ('streams', 'choice', 'live', null, null, '{live,whole}', 'Timeouts and streams', 'Streams', 'When a stream is sent to its client, unless the request sets it.', array[
        'Live: As it arrives. A stream that fails after its first token ends with an error.',
        'Whole: Once it is complete, so that a fallback can replace a stream that fails. Comments keep the connection open meanwhile.'
    ]),
    ('unsupported_tools', 'choice', 'drop', null, null, '{drop,refuse}', 'Provider features', 'Unsupported hosted tools', 'How to handle tools that the provider would have to run but does not support, if the model may choose its tools.', array[
        'Omit: The tools are omitted from the request, and a response header lists them.',
        'Reject: The request is rejected with 400.'
    ]),
    ('anthropic_cache_marks', 'choice', 'off', null, null, '{off,on}', 'Provider features', 'Anthropic prompt caching', 'Whether chat requests to Anthropic with the project’s own key are marked for prompt caching.', array[
        'Off: Only marks set by clients.',
        'On: Tools, system prompt and last turn are marked, unless the request has marks. Writing to the prompt cache costs 25% more than normal input; reading costs 10% of the normal price.'
    ]),
    ('when_exhausted', 'choice', 'serve_cache', null, null, '{serve_cache,refuse}', 'Budgets', 'When a budget is spent', 'Whether cache hits are still served.', array[
        'Serve cache hits: Requests that need a provider are rejected with 429.',
        'Reject: All requests are rejected with 429.'
    ]),
    ('budget_key_share', 'whole', '80', 1, 100, array['a whole percentage'], 'Budgets', 'Budget share per key', 'In percent. While other keys are active, the requests in flight of one key can reserve at most this share of the unspent budget. A key’s only request in flight can reserve all of it. 100 means no limit.', '{}'),
    ('log_content', 'choice', 'off', null, null, '{off,sealed}', 'Stored data', 'Storage of request text', 'Whether the text of requests and responses is stored, and the questions of semantic hits and near misses.', array[
        'Not stored: Requests show no text. Semantic hits show the similarity and the kinds of difference.',
        'Stored for a week: Encrypted. Members of the project can read it under Requests, Semantic hits and Near misses.'
    ]),
    ('seal_answers', 'choice', 'off', null, null, '{off,on}', 'Stored data', 'Encryption at rest', 'Whether cached responses, questions and stored responses are encrypted with the installation’s key. Applies to data stored from now on.', array[
        'Off: Plain text in the database and in Redis.',
        'On: Unreadable in a copy of the database without ENCRYPTION_KEY. Embeddings are not encrypted.'
    ]),
    ('alert_spend_times', 'number', '3', 0, 1000, array['a number'], 'Alerts', 'Spending, as a multiple of a usual day', 'The cost of the last 24 hours at which the alert is sent. A usual day is the median of the last 14 days. 0 turns the alert off.', '{}'),
    ('alert_error_percent', 'number', '10', 0, 100, array['a percentage'], 'Alerts', 'Error rate, in percent', 'The share of requests of the last half hour that ended with a 5xx. 0 turns the alert off.', '{}'),
    ('alert_latency_ms', 'whole', '30000', 0, 3600000, array['whole milliseconds'], 'Alerts', 'Latency (p95), in milliseconds', 'The time within which 95% of the responses of providers began in the last half hour. 0 turns the alert off.', '{}'),
    ('alert_hit_rate_percent', 'number', '50', 0, 100, array['a percentage'], 'Alerts', 'Hit rate, in percent of the usual', 'The hit rate of the last hour, compared with that of the last 7 days. 0 turns the alert off.', '{}'),
    ('alert_min_requests', 'whole', '50', 1, 1000000, array['a whole number'], 'Alerts', 'Minimum number of requests', 'With fewer requests in the measured time, no alert is sent.', '{}')
) as v (name, type, preset, least, most, words, area, title, help, choices)
on conflict (name) do update
set type = excluded.type,
    preset = excluded.preset,
    least = excluded.least,
    most = excluded.most,
    words = excluded.words,
    area = excluded.area,
    title = excluded.title,
    help = excluded.help,
    choices = excluded.choices,
    place = excluded.place;

-- Each setting is a column of projects, so that queries read it with its type and every project has a value.
do $$
declare
    missing record;
begin
    for missing in
        select k.name, k.preset, k.title || ': ' || k.help as meaning, t.column_type, a.attnum is null as is_new
        from setting_kinds k
        cross join lateral (
            select case k.type
                when 'number' then 'double precision'
                when 'whole' then 'bigint'
                when 'models' then 'text[]'
                when 'aliases' then 'text[]'
                when 'durations' then 'text[]'
                when 'contexts' then 'text[]'
                else 'text'
            end as column_type
        ) t
        left join pg_attribute a on a.attrelid = 'projects'::regclass and a.attname = k.name and not a.attisdropped
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where pg_get_expr(d.adbin, d.adrelid) is distinct from format('%L::%s', k.preset, t.column_type)
            or col_description(a.attrelid, a.attnum) is distinct from k.title || ': ' || k.help
        order by k.place
    loop
        if missing.is_new then
            execute format(
                'alter table projects add column %I %s not null default %L', missing.name, missing.column_type, missing.preset
            );
        else
            execute format('alter table projects alter column %I set default %L', missing.name, missing.preset);
        end if;
        execute format('comment on column projects.%I is %L', missing.name, missing.meaning);
    end loop;

    -- Readable names for two of the settings. See set_setting().
    if not exists (select from pg_attribute a where a.attrelid = 'projects'::regclass and a.attname = 'semantic_enabled') then
        alter table projects
            add column semantic_enabled boolean not null generated always as (semantic_mode = 'on') stored,
            add column semantic_guards boolean not null generated always as (semantic_policy <> 'threshold') stored;
        comment on column projects.semantic_enabled is 'True if semantic_mode is on.';
        comment on column projects.semantic_guards is 'True if semantic_policy requires more than similarity.';
    end if;
end $$;

-- Settings of projects. A new one is a row here: its column, its type in TypeScript and its place on the pages, in this order, follow.
insert into setting_kinds (name, type, preset, least, most, words, area, title, help, choices, place)
select v.*, row_number() over ()
from (values
    ('cache_mode', 'choice', 'all', null, null, '{all,deterministic,off}', 'Stored answers', 'Answered from the cache', 'Which requests may be answered from the cache at all.', array[
        'Every request: Unless the request forbids it.',
        'Deterministic requests: Those with temperature 0 or a seed. All others go to the provider.',
        'None: Nothing is looked up or stored.'
    ]),
    ('cache_scope', 'choice', 'project', null, null, '{project,key,user}', 'Stored answers', 'Who shares answers', 'Who may be given an answer that another request got: word for word, in other words, or while it is being given. What was stored under another choice is not served.', array[
        'All in the project: Whoever asks the same. A question about the asker (my, I) that names its user is matched in other words with the same user’s alone.',
        'Those with the same key: Nothing is shared between keys.',
        'The same end user: Named by safety_identifier, user or metadata.user_id. Requests that name none share within their key.'
    ]),
    ('cache_refresh', 'choice', 'any', null, null, '{any,none}', 'Stored answers', 'Who may refresh answers', 'Whether a request that refuses stored answers (Cache-Control: no-cache or max-age) puts its own in their place.', array[
        'Any request: Others get its answer from then on.',
        'None: It gets an answer of its own, which is not stored.'
    ]),
    ('cache_feedback', 'choice', 'members', null, null, '{any,members,none}', 'Stored answers', 'Who may judge matches', 'Who may call a semantic hit or near miss wrong or right. A verdict holds within the sharing scope of the request that it concerns.', array[
        'Any caller: Members, and every API key, for requests of its own sharing scope.',
        'Members: Members and owners of the project, on these pages or with an admin key.',
        'Nobody: Nobody on these pages or through the API. Operators may, with psql.'
    ]),
    ('cache_ttl_seconds', 'whole', '604800', 0, 315360000, array['whole seconds'], 'Stored answers', 'Time to live', 'How long an answer is kept, unless the request says otherwise. The plan sets an upper limit.', '{}'),
    ('cache_bytes', 'whole', '1073741824', 0, null, array['whole bytes'], 'Stored answers', 'Maximum size', 'Above it, the answers that would expire first are deleted. Checked once a minute.', '{}'),
    ('seal_answers', 'choice', 'off', null, null, '{off,on}', 'Stored answers', 'Encryption of what is stored', 'Whether stored answers, questions and responses are encrypted with the installation’s key. It applies to what is stored from then on.', array[
        'Off: Plain text in the database and in Redis.',
        'On: Whoever has a copy of the database without ENCRYPTION_KEY reads none. Vectors stay as they are.'
    ]),
    ('semantic_mode', 'choice', 'on', null, null, '{on,shadow,off}', 'Questions in other words', 'Semantic hits', 'Whether a differently worded question may be answered from the cache.', array[
        'On: A question in other words may be answered from the cache, as the policy allows.',
        'Shadow: The provider answers; Matches shows what the cache would have served.',
        'Off: Only an identical request is answered from the cache.'
    ]),
    ('semantic_policy', 'choice', 'verified', null, null, '{verified,proved,judged,threshold}', 'Questions in other words', 'What may be served', 'Which matches are served.', array[
        'Verified: If nothing in the two questions speaks against it.',
        'Proved: Only if both questions normalize to the same text. Nothing is compared by similarity.',
        'Judged: Also pairs that the judge has confirmed.',
        'Similar enough: By similarity alone. Sooner or later this serves wrong answers: look at Similarity first.'
    ]),
    ('semantic_risk', 'choice', 'balanced', null, null, '{careful,balanced,generous}', 'Questions in other words', 'How boldly words are explained', 'Under the policy verified, how little must speak for a match.', array[
        'Careful: The same words, but for number and place.',
        'Balanced: Also synonyms, and other words that an embedder of meaning finds close.',
        'Generous: Also words that it finds less close.'
    ]),
    ('semantic_threshold', 'number', '0.95', 0, 1, array['a number'], 'Questions in other words', 'Similarity threshold', 'Cosine similarity, 0 to 1, above which a stored question may be served. Pairs that a person has confirmed need not reach it.', '{}'),
    ('log_content', 'choice', 'off', null, null, '{off,sealed}', 'Questions in other words', 'Text of requests and matches', 'Whether what requests say and get is kept, and the wordings of semantic hits and near misses.', array[
        'Not kept: Requests show no text; matches show the similarity and the kinds of difference.',
        'Kept for a week: Encrypted. This project’s members see it under Requests, Matches and Near misses.'
    ]),
    ('semantic_judge', 'choice', 'off', null, null, '{off,learn,inline}', 'Undecided pairs, under the policy Judged', 'The judge', 'Whether a model is asked about what proof cannot decide.', array[
        'Off: Only people give verdicts, under Matches and Near misses.',
        'After the request: No request waits. The model’s verdicts apply to later requests.',
        'During the request: A model compares the two questions before the provider is asked. The request waits for its verdict.'
    ]),
    ('semantic_judge_model', 'text', '', 0, 256, array['a model''s name of at most 256 characters, or nothing'], 'Undecided pairs, under the policy Judged', 'Judge’s model', 'Any model that the project can use, such as openai/gpt-4.1-mini. It gets both questions as data, and answers in a strict schema.', '{}'),
    ('semantic_judge_daily_usd', 'number', '1', 0, 1000000, array['US dollars'], 'Undecided pairs, under the policy Judged', 'Daily budget, in US dollars', 'Per UTC day. When it is spent, the judge is not asked.', '{}'),
    ('semantic_judge_timeout_ms', 'whole', '800', 1, 60000, array['whole milliseconds'], 'Undecided pairs, under the policy Judged', 'Time limit, in milliseconds', 'How long a request waits for the judge. A verdict that arrives later applies to the next request.', '{}'),
    ('semantic_judge_floor', 'number', '0.8', 0, 1, array['a number'], 'Undecided pairs, under the policy Judged', 'Minimum similarity', 'Less similar pairs are never sent to the judge, and not served even if they were confirmed.', '{}'),
    ('semantic_verify_ratio', 'number', '0', 0, 1, array['a number'], 'Undecided pairs, under the policy Judged', 'Share of hits to verify', '0 to 1. The judge checks this share of the semantic hits afterwards. A pair that it calls different is not served again.', '{}'),
    ('aliases', 'aliases', '{}', 0, 100, array['up to 100 names with commas between them, each with the model that it stands for, name=model, and up to five fallbacks, name=model|fallback, of at most 256 characters, or nothing'], 'Models and tools', 'Aliases', 'Names that clients may ask for in place of a model, such as fast=gpt-5.4-mini, with commas between them. After the model, fallbacks of its own may follow: smart=gpt-5.4|claude-opus-4-8.', '{}'),
    ('fallbacks', 'models', '{}', 0, 5, array['up to 5 different model names with commas between them, or nothing'], 'Models and tools', 'Fallback models', 'Up to five, with commas between them. They are asked in this order when a model cannot be reached.', '{}'),
    ('allowed_models', 'models', '{}', 0, 100, array['up to 100 different model names with commas between them, * in them for any characters, or nothing'], 'Models and tools', 'Allowed models', 'Patterns of model names, such as openai/*, with commas between them. Empty allows every model.', '{}'),
    ('unsupported_tools', 'choice', 'drop', null, null, '{drop,refuse}', 'Models and tools', 'Tools that a provider would have to run and cannot', 'What becomes of them where the model may choose.', array[
        'Leave out: The model is not told of them, and a header names them.',
        'Refuse: The request gets a 400.'
    ]),
    ('anthropic_cache_marks', 'choice', 'off', null, null, '{off,on}', 'Models and tools', 'Anthropic’s cache of prompts', 'Whether chat requests to Anthropic, under the project’s own key, are marked for its cache.', array[
        'Off: Only marks that clients set themselves.',
        'On: After tools, system prompt and last turn, where a request has no mark of its own. Writing costs a quarter more than input, reading a tenth.'
    ]),
    ('when_exhausted', 'choice', 'serve_cache', null, null, '{serve_cache,refuse}', 'Models and tools', 'Once the quota or a budget is used up', 'Whether hits are still answered, or nothing is.', array[
        'Serve the cache: Hits are answered; what would need a provider gets a 429.',
        'Refuse: Every request gets a 429.'
    ]),
    ('budget_key_share', 'whole', '80', 1, 100, array['a whole percentage'], 'Models and tools', 'Share of a budget that one key may reserve', 'In percent. While other keys are active, the requests in flight of one key reserve at most this share of what is not spent of the project’s budgets. A key’s only request in flight may reserve all of it. 100: no limit.', '{}')
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

-- A setting is a column of projects, so that every query reads it with its type, and no project is without it.
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

    -- Readable names for two of the choices: see set_setting().
    if not exists (select from pg_attribute a where a.attrelid = 'projects'::regclass and a.attname = 'semantic_enabled') then
        alter table projects
            add column semantic_enabled boolean not null generated always as (semantic_mode = 'on') stored,
            add column semantic_guards boolean not null generated always as (semantic_policy <> 'threshold') stored;
        comment on column projects.semantic_enabled is 'Whether semantic_mode is on.';
        comment on column projects.semantic_guards is 'Whether semantic_policy asks for more than similarity.';
    end if;
end $$;

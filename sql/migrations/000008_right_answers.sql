-- Which differently worded questions may be answered from the cache: a policy and a mode in place of two switches, verdicts of
-- people and of a judge about pairs of questions, and what was served by them.
-- The view comes again with this deploy. The release before reads the two switches there, and writes them through set_setting().
-- squawk-ignore-file
drop view if exists key_accounts cascade;

alter table projects
    add column semantic_mode text not null default 'on'
        check (semantic_mode in ('on', 'shadow', 'off')),
    add column semantic_policy text not null default 'proved'
        check (semantic_policy in ('proved', 'judged', 'threshold')),
    add column cache_mode text not null default 'all'
        check (cache_mode in ('all', 'deterministic', 'off')),
    add column semantic_judge text not null default 'off'
        check (semantic_judge in ('off', 'inline')),
    add column semantic_judge_model text not null default ''
        check (length(semantic_judge_model) <= 256),
    add column semantic_judge_daily_usd double precision not null default 1
        check (semantic_judge_daily_usd between 0 and 1000000),
    add column semantic_judge_floor double precision not null default 0.8
        check (semantic_judge_floor between 0 and 1),
    add column semantic_judge_timeout_ms integer not null default 800
        check (semantic_judge_timeout_ms between 1 and 60000),
    add column semantic_error_rate double precision not null default 0
        check (semantic_error_rate between 0 and 0.5),
    add column learned_threshold double precision not null default 2,
    add column verdict_generation integer not null default 1;

update projects p
set semantic_mode = case when p.semantic_enabled then 'on' else 'off' end,
    semantic_policy = case when p.semantic_guards then 'proved' else 'threshold' end;
alter table projects
    drop column semantic_enabled,
    drop column semantic_guards;
alter table projects
    add column semantic_enabled boolean not null generated always as (semantic_mode = 'on') stored,
    add column semantic_guards boolean not null generated always as (semantic_policy <> 'threshold') stored;

comment on column projects.semantic_mode is 'on: a differently worded question may be answered from the cache; shadow: what would be is recorded, and the provider asked; off: neither.';
comment on column projects.semantic_policy is 'Which of them: proved (every difference is harmless), judged (and those that a judge or a person confirmed), threshold (all that are similar enough).';
comment on column projects.cache_mode is 'all: every request may be answered from the cache; deterministic: those with temperature 0 or a seed; off: none.';
comment on column projects.semantic_judge is 'inline: under the policy judged, a model is asked about a similar question that proof cannot decide; off: none is.';
comment on column projects.semantic_judge_model is 'That model, as the project''s requests would name it; empty: none.';
comment on column projects.semantic_judge_daily_usd is 'What may be spent on the judge in a day (UTC).';
comment on column projects.semantic_judge_floor is 'Least cosine similarity that is worth asking the judge about.';
comment on column projects.semantic_judge_timeout_ms is 'How long a request waits for the judge, in milliseconds.';
comment on column projects.semantic_error_rate is 'Under the policy judged: how often a question that nobody decided may be answered wrongly, once verdicts show from which similarity on that holds; 0: never.';
comment on column projects.learned_threshold is 'That similarity, by learn_thresholds(); above 1: verdicts show none.';
comment on column projects.verdict_generation is 'Counted up when a person calls a served pair wrong: what Redis knows of such pairs is void from the next request on.';
comment on column projects.semantic_enabled is 'Whether semantic_mode is on.';
comment on column projects.semantic_guards is 'Whether semantic_policy asks for more than similarity.';

create table cache_verdicts (
    project_id bigint not null
        references projects (id) on delete cascade,
    context_hash bytea not null
        check (octet_length(context_hash) = 32),
    one_hash bytea not null
        check (octet_length(one_hash) = 32),
    other_hash bytea not null
        check (octet_length(other_hash) = 32),
    source text not null
        check (source in ('person', 'judge')),
    verdict text not null
        check (verdict in ('same', 'different')),
    similarity double precision,
    difference text,
    given_at timestamptz not null default now(),
    expires_at timestamptz not null,
    primary key (project_id, context_hash, one_hash, other_hash, source),
    check (one_hash <= other_hash)
);

create index cache_verdicts_expires_at_idx on cache_verdicts (expires_at);

comment on table cache_verdicts is 'Whether two questions of equal context ask the same, as a person or the judge said. A person outweighs every judge.';
comment on column cache_verdicts.project_id is 'The only project that the verdict is of use to.';
comment on column cache_verdicts.context_hash is 'As in cache_prompts.';
comment on column cache_verdicts.one_hash is 'Hash of the one normalized question: the lesser of the two, so that a pair has one row whichever was asked first.';
comment on column cache_verdicts.other_hash is 'Hash of the other normalized question; the same one where normalization made two unequal questions equal.';
comment on column cache_verdicts.source is 'person or judge.';
comment on column cache_verdicts.verdict is 'same or different.';
comment on column cache_verdicts.similarity is 'Cosine similarity of the two questions.';
comment on column cache_verdicts.difference is 'The kind of difference that stood in the way of proof; null: none that was noted.';
comment on column cache_verdicts.given_at is 'When it was given, or given anew.';
comment on column cache_verdicts.expires_at is 'From when on the verdict may go, unless an entry that it speaks of is still kept.';

create table semantic_hits (
    project_id bigint not null
        references projects (id) on delete cascade,
    request_id text not null,
    served_at timestamptz not null default now(),
    asked_hash bytea not null
        check (octet_length(asked_hash) = 32),
    entry_hash bytea not null
        check (octet_length(entry_hash) = 32),
    reason text not null
        check (reason in ('normalized', 'proved', 'judged', 'threshold')),
    similarity double precision not null,
    is_shadow boolean not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    saved_usd numeric(18, 9) not null,
    primary key (project_id, request_id)
);

create index semantic_hits_served_at_idx on semantic_hits (served_at);

comment on table semantic_hits is 'Requests that were answered from the cache though worded differently, or would have been in shadow mode; kept for a week.';
comment on column semantic_hits.project_id is 'The project.';
comment on column semantic_hits.request_id is 'X-Request-Id of the answer: the latest, where a client sent one twice.';
comment on column semantic_hits.served_at is 'When it was answered.';
comment on column semantic_hits.asked_hash is 'Hash of the normalized question.';
comment on column semantic_hits.entry_hash is 'cache_entries.request_hash of the answer.';
comment on column semantic_hits.reason is 'normalized, proved, judged or threshold.';
comment on column semantic_hits.similarity is 'Cosine similarity of the two questions.';
comment on column semantic_hits.is_shadow is 'Whether it was only recorded, and the provider asked.';
comment on column semantic_hits.prompt_tokens is 'Prompt tokens of the stored answer.';
comment on column semantic_hits.completion_tokens is 'Completion tokens of the stored answer.';
comment on column semantic_hits.saved_usd is 'What the stored answer once cost.';

create table judge_spending (
    project_id bigint not null
        references projects (id) on delete cascade,
    day date not null,
    asks integer not null,
    usd numeric(18, 9) not null,
    primary key (project_id, day)
);

comment on table judge_spending is 'What each project spent on its judge, by day (UTC).';
comment on column judge_spending.project_id is 'The project.';
comment on column judge_spending.day is 'The day (UTC).';
comment on column judge_spending.asks is 'How often the judge was asked.';
comment on column judge_spending.usd is 'What that cost; while the judge is being asked, what it may cost.';

-- Its result gets two columns more, which `create or replace` cannot do; so does what it calls.
drop function if exists find_in_cache_graph(bigint, bigint, bytea, integer, halfvec, double precision, timestamptz);

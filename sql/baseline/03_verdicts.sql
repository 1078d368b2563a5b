-- Verdicts on pairs of questions, semantic hits, and the queue of the judge.

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
        check (source in ('person', 'review', 'judge')),
    verdict text not null
        check (verdict in ('same', 'different')),
    similarity double precision,
    difference text,
    given_at timestamptz not null default now(),
    expires_at timestamptz not null,
    end_users text[],
    primary key (project_id, one_hash, other_hash, context_hash, source),
    check (one_hash <= other_hash)
);

create index cache_verdicts_expires_at_idx on cache_verdicts (expires_at);
create index cache_verdicts_same_by_person_idx on cache_verdicts (project_id, other_hash) where source = 'person' and verdict = 'same';

comment on table cache_verdicts is 'Decisions of a person or the judge whether two questions are the same. They apply in the context of the questions; a person''s verdict different applies in all contexts of the project. A person''s verdict overrides a review, and a review overrides a verdict of the judge.';
comment on column cache_verdicts.project_id is 'The only project in which the verdict applies.';
comment on column cache_verdicts.one_hash is 'Hash of one normalized question and the sharing scope: the lesser of the two hashes, so that a pair has one row in either order.';
comment on column cache_verdicts.other_hash is 'Hash of the other normalized question; equal to one_hash if normalization made two different questions equal.';
comment on column cache_verdicts.source is 'person; review: the judge, on a hit that was served; judge: the judge, on an undecided pair.';
comment on column cache_verdicts.verdict is 'same or different.';
comment on column cache_verdicts.similarity is 'Cosine similarity of the two questions.';
comment on column cache_verdicts.difference is 'The kind of difference that prevented proof; null: none was recorded.';
comment on column cache_verdicts.given_at is 'When it was last given.';
comment on column cache_verdicts.expires_at is 'From when on the verdict may be deleted, unless one of its cache entries still exists; a year after it was given for different by a person. Ahead of given_at.';
comment on column cache_verdicts.end_users is 'The end users of the two questions, for a person''s verdict, in the form of name_end_user(); null: none was named.';

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
        check (reason in ('normalized', 'verified', 'proved', 'judged', 'threshold', 'undecided')),
    similarity double precision not null,
    is_shadow boolean not null,
    prompt_tokens integer not null,
    completion_tokens integer not null,
    saved_usd numeric(18, 9) not null,
    difference text,
    sealed_wording bytea,
    key_id bigint,
    end_user text,
    scope_hash bytea not null default ''
        check (octet_length(scope_hash) in (0, 32)),
    primary key (project_id, request_id, scope_hash)
);

create index semantic_hits_latest_idx on semantic_hits (project_id, served_at, request_id);
create index semantic_hits_served_at_idx on semantic_hits (served_at);

comment on table semantic_hits is 'Requests with a semantic hit, with a hit in shadow mode, or with a near miss; stored for a week.';
comment on column semantic_hits.request_id is 'X-Request-Id of the response; the latest in the sharing scope if a client used it twice.';
comment on column semantic_hits.served_at is 'When the response was sent.';
comment on column semantic_hits.asked_hash is 'Hash of the normalized question.';
comment on column semantic_hits.entry_hash is 'cache_entries.request_hash of the cached response.';
comment on column semantic_hits.reason is 'normalized, verified, proved, judged or threshold: why it was served; undecided: a near miss.';
comment on column semantic_hits.similarity is 'Cosine similarity of the two questions.';
comment on column semantic_hits.is_shadow is 'Whether the hit was only recorded, and the request forwarded.';
comment on column semantic_hits.prompt_tokens is 'Prompt tokens of the cached response.';
comment on column semantic_hits.completion_tokens is 'Completion tokens of the cached response.';
comment on column semantic_hits.saved_usd is 'The cost of the cached response.';
comment on column semantic_hits.difference is 'For a near miss, the kind of difference that prevented a match; null: it was not similar enough.';
comment on column semantic_hits.sealed_wording is 'The question as it was sent, sealed by the proxy; null if log_content was off for its key.';
comment on column semantic_hits.key_id is 'The key that sent the request.';
comment on column semantic_hits.end_user is 'The end user of the request, in the form of name_end_user(); null: it named none.';
comment on column semantic_hits.scope_hash is 'Hash of the sharing scope of the request: within it, callers may judge the hit. Empty: only members and operators may.';

create table judge_queue (
    id bigint generated always as identity primary key,
    project_id bigint not null
        references projects (id) on delete cascade,
    context_hash bytea not null
        check (octet_length(context_hash) = 32),
    one_hash bytea not null
        check (octet_length(one_hash) = 32),
    other_hash bytea not null
        check (octet_length(other_hash) = 32),
    asked_hash bytea not null
        check (octet_length(asked_hash) = 32),
    entry_hash bytea not null
        check (octet_length(entry_hash) = 32),
    is_review boolean not null,
    context text not null,
    asked text not null,
    similarity double precision not null,
    attempts integer not null default 0,
    queued_at timestamptz not null default now(),
    not_before timestamptz not null default now(),
    end_user text,
    unique (project_id, context_hash, one_hash, other_hash)
);

create index judge_queue_not_before_idx on judge_queue (not_before) where attempts < 5;
create index judge_queue_queued_at_idx on judge_queue (queued_at);

comment on table judge_queue is 'Pairs of questions that wait for the judge, each once per context: up to a thousand per project, for up to a day.';
comment on column judge_queue.id is 'Identity.';
comment on column judge_queue.project_id is 'The project.';
comment on column judge_queue.asked_hash is 'Hash of the normalized question of the request: one of the two.';
comment on column judge_queue.entry_hash is 'cache_entries.request_hash of the cached response; its question is read there.';
comment on column judge_queue.is_review is 'Whether the pair was served as a hit.';
comment on column judge_queue.context is 'The rest of both requests as JSON, sealed as an entry''s response is.';
comment on column judge_queue.asked is 'The question of the request, sealed as the context is.';
comment on column judge_queue.similarity is 'Cosine similarity of the two.';
comment on column judge_queue.attempts is 'The number of times that a proxy has claimed the pair; after the fifth time it is not claimed again.';
comment on column judge_queue.queued_at is 'When it was queued.';
comment on column judge_queue.not_before is 'When a proxy may claim it; a claim lasts two minutes. Ahead of queued_at.';
comment on column judge_queue.end_user is 'The end user of the request, in the form of name_end_user(); null: it named none.';

create table judge_spending (
    project_id bigint not null
        references projects (id) on delete cascade,
    day date not null,
    pairs integer not null,
    usd numeric(18, 9) not null,
    primary key (project_id, day)
);

comment on table judge_spending is 'The cost of each project''s judge, by day (UTC).';
comment on column judge_spending.day is 'The day (UTC).';
comment on column judge_spending.pairs is 'The number of pairs that the judge was called for.';
comment on column judge_spending.usd is 'Their cost; during a call of the judge, its upper bound.';

create table cache_contexts (
    project_id bigint not null
        references projects (id) on delete cascade,
    instructions_hash text not null
        check (instructions_hash ~ '^[0-9a-f]{16}$'),
    misses bigint not null,
    first_at timestamptz not null default now(),
    last_at timestamptz not null default now(),
    last_request_id text not null,
    primary key (project_id, instructions_hash)
);

create index cache_contexts_last_at_idx on cache_contexts (last_at);

comment on table cache_contexts is 'Contexts whose instructions work on the wording of questions, so that requests missed the cache: up to 200 per project, for 30 days after the last miss. Projects correct them with semantic_contexts.';
comment on column cache_contexts.instructions_hash is 'The first 16 hex digits of the hash of the instructions that decided.';
comment on column cache_contexts.misses is 'The number of requests with the miss reason context.';
comment on column cache_contexts.first_at is 'The time of the first of these requests.';
comment on column cache_contexts.last_at is 'The time of the latest.';
comment on column cache_contexts.last_request_id is 'X-Request-Id of the latest. Its content shows the instructions, if the project stores it.';

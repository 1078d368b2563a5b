-- What a judge says off every request's path, and what verdicts teach: a queue of pairs, a look at what was served, and exchanges of
-- words that are harmless in a project.
-- The settings' checks are widened: no row can break them.
-- squawk-ignore-file constraint-missing-not-valid
alter table projects
    drop constraint projects_semantic_judge_check;
alter table projects
    add constraint projects_semantic_judge_check
        check (semantic_judge in ('off', 'learn', 'inline')),
    add column semantic_learn_after integer not null default 3
        check (semantic_learn_after between 2 and 100),
    add column semantic_verify_ratio double precision not null default 0
        check (semantic_verify_ratio between 0 and 1),
    add column equivalences_version integer not null default 0;

comment on column projects.semantic_judge is 'Under the policy judged, what happens to a similar question that proof cannot decide: inline puts it to a model while the request waits, learn afterwards; off: nothing.';
comment on column projects.semantic_judge_model is 'That model, as the project''s requests would name it; empty: none.';
comment on column projects.semantic_learn_after is 'In how many different pairs of questions an exchange of words must have been called harmless, and never harmful, to be taken for harmless.';
comment on column projects.semantic_verify_ratio is 'Which part of the semantic hits is put to the judge after it was served.';
comment on column projects.equivalences_version is 'Counted up whenever the list of exchanges changes that are harmless in the project; 0: there never was one.';

alter table cache_verdicts
    drop constraint cache_verdicts_source_check;
alter table cache_verdicts
    add constraint cache_verdicts_source_check
        check (source in ('person', 'review', 'judge'));

comment on table cache_verdicts is 'Whether two questions of equal context ask the same, as a person or the judge said. A person outweighs a review, and a review the judge.';
comment on column cache_verdicts.source is 'person; review: the judge, of a hit that had been served; judge: the judge, of a pair that nobody had decided.';
comment on column judge_spending.asks is 'How many pairs it was asked about.';

alter table semantic_hits
    add column exchange jsonb;

comment on column semantic_hits.exchange is 'The exchange of words that is the only difference between the two questions: one, other, and the words around; null: there is none, or more.';

create table judge_queue (
    id bigint generated always as identity
        primary key,
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
    unique (project_id, context_hash, one_hash, other_hash)
);

-- Those that were given up wait for their end, and are in nobody's way.
create index judge_queue_not_before_idx on judge_queue (not_before) where attempts < 5;
create index judge_queue_queued_at_idx on judge_queue (queued_at);

comment on table judge_queue is 'Pairs of questions that wait for the judge, each once a context: up to a thousand a project, up to a day.';
comment on column judge_queue.id is 'Identity.';
comment on column judge_queue.project_id is 'The project.';
comment on column judge_queue.context_hash is 'As in cache_prompts.';
comment on column judge_queue.one_hash is 'As in cache_verdicts.';
comment on column judge_queue.other_hash is 'As in cache_verdicts.';
comment on column judge_queue.asked_hash is 'Hash of the normalized question that was asked: one of the two.';
comment on column judge_queue.entry_hash is 'cache_entries.request_hash of the answer; its question is read there.';
comment on column judge_queue.is_review is 'Whether the pair was served already.';
comment on column judge_queue.context is 'What both questions were sent with, as JSON.';
comment on column judge_queue.asked is 'The question that was asked.';
comment on column judge_queue.similarity is 'Cosine similarity of the two.';
comment on column judge_queue.attempts is 'How often a proxy has taken the pair; after the fifth time it is given up.';
comment on column judge_queue.queued_at is 'When it came.';
comment on column judge_queue.not_before is 'When a proxy may take it; one that has it is given two minutes.';

create table learned_equivalences (
    project_id bigint not null
        references projects (id) on delete cascade,
    one_words text not null
        check (octet_length(one_words) <= 400),
    other_words text not null
        check (octet_length(other_words) <= 400),
    around text[] not null,
    pairs bytea[] not null default '{}',
    noted_at timestamptz not null default now(),
    learned_at timestamptz,
    withdrawn_at timestamptz,
    withdrawn_by text
        check (withdrawn_by in ('person', 'review', 'judge')),
    primary key (project_id, one_words, other_words)
);

create index learned_equivalences_noted_at_idx on learned_equivalences (noted_at) where learned_at is null;

comment on table learned_equivalences is 'Exchanges of words between questions that had verdicts: candidates, those that a project takes for harmless, and those that it must not. The view equivalences shows them.';
comment on column learned_equivalences.project_id is 'The only project that the exchange is of use to.';
comment on column learned_equivalences.one_words is 'The one stretch of words as proof writes it, the lesser of the two; empty where the other question has more words.';
comment on column learned_equivalences.other_words is 'The other stretch.';
comment on column learned_equivalences.around is 'Words that stood around the exchange in every pair that was called the same: it holds only among them.';
comment on column learned_equivalences.pairs is 'Hashes of those pairs.';
comment on column learned_equivalences.noted_at is 'When the latest verdict about it came.';
comment on column learned_equivalences.learned_at is 'Since when it is harmless; null: not enough pairs have shown it.';
comment on column learned_equivalences.withdrawn_at is 'Since when it is harmful, for good; null: it is not.';
comment on column learned_equivalences.withdrawn_by is 'Whose word that was: person, review or judge.';

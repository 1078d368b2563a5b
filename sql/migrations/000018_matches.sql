-- What people look at to say whether the cache was right: near misses beside hits, and the wordings of both, where a project keeps them.
-- squawk-ignore-file
alter table projects
    add column log_content text not null default 'off'
        check (log_content in ('off', 'sealed'));

comment on column projects.log_content is 'sealed: the wordings of questions that were answered in other words, or nearly, are kept for a week, sealed, and shown to members; off: none are.';

alter table semantic_hits
    drop constraint semantic_hits_reason_check,
    add constraint semantic_hits_reason_check check (reason in ('normalized', 'proved', 'judged', 'threshold', 'undecided')),
    add column difference text,
    add column sealed_wording bytea;

create index semantic_hits_latest_idx on semantic_hits (project_id, served_at, request_id);

comment on table semantic_hits is 'Requests that were answered from the cache though worded differently, would have been in shadow mode, or were not for want of proof; kept for a week.';
comment on column semantic_hits.reason is 'normalized, proved, judged or threshold: why it was served; undecided: it was not, and nobody had given a verdict on the most similar question.';
comment on column semantic_hits.difference is 'Of an undecided one, the kind of difference that stood in the way; null: it was not similar enough.';
comment on column semantic_hits.sealed_wording is 'The question as it was asked, sealed by the proxy; null where the project keeps no wordings.';

alter table semantic_hits enable row level security;
alter table cache_verdicts enable row level security;
alter table judge_spending enable row level security;

create policy members_see on semantic_hits for select using (project_id in (select visible_projects()));
create policy members_see on cache_verdicts for select using (project_id in (select visible_projects()));
create policy members_see on judge_spending for select using (project_id in (select visible_projects()));

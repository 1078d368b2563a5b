-- All that is kept of a project's end users, by what it is: the one place that says what is counted, shown and forgotten.
-- It is read through functions, which let a project's owners alone.

create or replace view end_user_items as
select
    r.project_id,
    r.end_user,
    'record' as kind,
    r.request_id as id,
    r.recorded_at as at,
    r.key_id,
    pg_column_size(r.*)::bigint as bytes,
    null::text as question,
    null::text as answer,
    null::bytea as sealed_question,
    null::bytea as sealed_answer,
    to_jsonb(r.*) as record
from usage_records r
where r.end_user is not null
union all
select
    c.project_id, c.end_user, 'content', c.request_id, c.recorded_at, c.key_id,
    (coalesce(pg_column_size(c.sealed_request), 0) + coalesce(pg_column_size(c.sealed_response), 0))::bigint,
    null::text, null::text, c.sealed_request, c.sealed_response, null::jsonb
from request_contents c
where c.end_user is not null
union all
select
    e.project_id, e.end_user, 'answer', 'entry_' || e.id, e.created_at, e.key_id,
    (pg_column_size(e.response) + coalesce(pg_column_size(p.prompt), 0))::bigint,
    p.prompt, e.response, null::bytea, null::bytea, null::jsonb
from cache_entries e
left join cache_prompts p on p.entry_id = e.id
where e.end_user is not null
union all
select
    v.project_id, v.end_user, 'vector', encode(v.name, 'hex'), v.created_at, v.key_id, v.bytes::bigint,
    null::text, null::text, null::bytea, null::bytea, null::jsonb
from cached_vectors v
where v.end_user is not null
union all
select
    k.project_id, k.end_user, 'response', k.id, k.expires_at - interval '7 days', k.key_id,
    (coalesce(pg_column_size(k.input), 0) + pg_column_size(k.response))::bigint,
    k.input, k.response, null::bytea, null::bytea, null::jsonb
from stored_responses k
where k.end_user is not null
union all
select
    h.project_id, h.end_user, 'match', h.request_id, h.served_at, h.key_id, coalesce(pg_column_size(h.sealed_wording), 0)::bigint,
    null::text, null::text, h.sealed_wording, null::bytea, null::jsonb
from semantic_hits h
where h.end_user is not null
union all
select
    q.project_id, q.end_user, 'question', q.id::text, q.queued_at, null::bigint, pg_column_size(q.asked)::bigint,
    q.asked, null::text, null::bytea, null::bytea, null::jsonb
from judge_queue q
where q.end_user is not null
union all
select
    v.project_id, u.end_user, 'verdict', encode(sha256(v.context_hash || v.one_hash || v.other_hash), 'hex'), v.given_at, null::bigint,
    pg_column_size(v.*)::bigint, null::text, null::text, null::bytea, null::bytea, null::jsonb
from cache_verdicts v
cross join lateral (select distinct n.name as end_user from unnest(v.end_users) as n (name)) u
union all
select
    o.project_id, o.end_user, 'object', o.id, null::timestamptz, null::bigint, coalesce(pg_column_size(o.object), 0)::bigint,
    null::text, o.object, null::bytea, null::bytea, null::jsonb
from stored_objects o
where o.end_user is not null
union all
-- metadata.user_id names a user, and is a tag besides: of other requests, too, which name somebody by another field.
select
    r.project_id, r.tags ->> 'user_id', 'tag', r.request_id, r.recorded_at, r.key_id, pg_column_size(r.*)::bigint,
    null::text, null::text, null::bytea, null::bytea, to_jsonb(r.*)
from usage_records r
where r.tags ? 'user_id'
    and r.end_user is distinct from r.tags ->> 'user_id'
union all
select
    t.project_id, t.tags ->> 'user_id', 'tag', t.at::text, t.at, t.key_id, pg_column_size(t.*)::bigint,
    null::text, null::text, null::bytea, null::bytea, to_jsonb(t.*)
from usage_sums_by_tag t
where t.tags ? 'user_id'
    and t.project_id > 0
union all
select
    s.project_id, s.tags ->> 'user_id', 'tag', s.at::text, s.at, s.key_id, pg_column_size(s.*)::bigint,
    null::text, null::text, null::bytea, null::bytea, to_jsonb(s.*)
from usage_pending s
where s.tags ? 'user_id';

comment on view end_user_items is 'What is kept of end users, in the form of name_end_user(): records of requests (record), what these said and got (content), stored answers (answer) and vectors (vector) that they asked for first, responses that can be continued (response), matches in other words (match), questions that wait for the judge (question), what people said of their questions (verdict), batches (object), and records and sums with a tag that names them (tag).';
comment on column end_user_items.kind is 'What it is.';
comment on column end_user_items.id is 'The request''s, entry''s, response''s or object''s own id.';
comment on column end_user_items.at is 'When it came to be; null: not known.';
comment on column end_user_items.key_id is 'The key; null: not known.';
comment on column end_user_items.bytes is 'What it takes.';
comment on column end_user_items.question is 'What was asked; null: it is sealed, or there is none.';
comment on column end_user_items.answer is 'What was answered; null: it is sealed, or there is none.';
comment on column end_user_items.sealed_question is 'The question, sealed by the proxy; null: it is not sealed, or there is none.';
comment on column end_user_items.sealed_answer is 'The answer, sealed by the proxy; null: it is not sealed, or there is none.';
comment on column end_user_items.record is 'The whole row, of records and sums; null: of all else.';

-- The tables that hold data of end users. end_user_items, forget_end_user_items(), the table in docs/sharing.md and the page Settings ›
-- Privacy are derived from these rows. A test finds columns that name end users and are missing here. Expressions are SQL, with the table
-- as t.
create or replace view end_user_tables as
select r.position, d.*, u.also_from, u.end_user, u.is_named || coalesce(' and ' || d.condition, '') as is_listed, u.matches
from jsonb_array_elements($$[
    {"kind": "answer", "title": "Cached responses created by their requests", "table_name": "cache_entries", "user_column": "end_user",
        "batch_column": "id", "id": "'entry_' || t.id", "at": "t.created_at",
        "question": "(select p.prompt from cache_prompts p where p.entry_id = t.id)", "answer": "t.response"},
    {"kind": "content", "title": "Request and response text", "table_name": "request_contents", "user_column": "end_user",
        "batch_column": "request_id", "id": "t.request_id", "at": "t.recorded_at",
        "sealed_question": "t.sealed_request", "sealed_answer": "t.sealed_response"},
    {"kind": "match", "title": "Semantic matches", "table_name": "semantic_hits", "user_column": "end_user",
        "batch_column": "request_id", "id": "t.request_id", "at": "t.served_at", "sealed_question": "t.sealed_wording"},
    {"kind": "object", "title": "Batches", "table_name": "stored_objects", "user_column": "end_user",
        "batch_column": "id", "id": "t.id", "at": "null::timestamptz", "key_id": "null::bigint", "answer": "t.object",
        "cleared": ["end_user", "object", "tags"]},
    {"kind": "question", "title": "Questions queued for the judge", "table_name": "judge_queue", "user_column": "end_user",
        "batch_column": "id", "id": "t.id::text", "at": "t.queued_at", "key_id": "null::bigint", "question": "t.asked"},
    {"kind": "record", "title": "Request records", "table_name": "usage_records", "user_column": "end_user",
        "batch_column": "recorded_at", "id": "t.request_id", "at": "t.recorded_at", "record": "to_jsonb(t.*)",
        "cleared": ["end_user", "error_message", "upstream_message", "tags", "session"]},
    {"kind": "response", "title": "Stored responses (Responses API)", "table_name": "stored_responses", "user_column": "end_user",
        "batch_column": "id", "id": "t.id", "at": "t.expires_at - interval '7 days'", "question": "t.input", "answer": "t.response"},
    {"kind": "sum", "title": "Totals by end user", "table_name": "usage_pending", "user_column": "end_user",
        "batch_column": "at", "id": "t.at::text", "at": "t.at", "record": "to_jsonb(t.*)", "cleared": ["end_user"]},
    {"kind": "sum", "title": "Totals by end user", "table_name": "usage_sums_by_name", "user_column": "name",
        "batch_column": "at", "id": "t.at::text", "at": "t.at", "key_id": "null::bigint", "record": "to_jsonb(t.*)"},
    {"kind": "tag", "title": "Records and totals with the tag user_id", "table_name": "usage_records", "user_column": "tags",
        "condition": "t.end_user is distinct from t.tags ->> 'user_id'",
        "batch_column": "recorded_at", "id": "t.request_id", "at": "t.recorded_at", "record": "to_jsonb(t.*)", "cleared": ["tags", "session"]},
    {"kind": "tag", "title": "Records and totals with the tag user_id", "table_name": "stored_objects", "user_column": "tags",
        "condition": "t.end_user is distinct from t.tags ->> 'user_id'",
        "batch_column": "id", "id": "t.id", "at": "null::timestamptz", "key_id": "null::bigint", "record": "to_jsonb(t.*)", "cleared": ["tags"]},
    {"kind": "tag", "title": "Records and totals with the tag user_id", "table_name": "usage_sums_by_tag", "user_column": "tags",
        "batch_column": "at", "id": "t.at::text", "at": "t.at", "record": "to_jsonb(t.*)", "cleared": ["tags"], "deletion": "remove_user_from_sums($1, $2)"},
    {"kind": "tag", "title": "Records and totals with the tag user_id", "table_name": "usage_sums_by_name", "user_column": "tag",
        "batch_column": "at", "id": "t.at::text", "at": "t.at", "key_id": "null::bigint", "record": "to_jsonb(t.*)", "deletion": "remove_user_from_sums($1, $2)"},
    {"kind": "tag", "title": "Records and totals with the tag user_id", "table_name": "usage_pending", "user_column": "tags",
        "batch_column": "at", "id": "t.at::text", "at": "t.at", "record": "to_jsonb(t.*)", "cleared": ["tags"]},
    {"kind": "tag", "title": "Records and totals with the tag user_id", "table_name": "budget_reservations", "user_column": "tags",
        "batch_column": "id", "id": "t.request_id", "at": "t.reserved_at", "record": "to_jsonb(t.*)", "cleared": ["tags"]},
    {"kind": "turn", "title": "Reasoning and signatures of tool calls", "table_name": "stored_turns", "user_column": "end_user",
        "batch_column": "name", "id": "t.name", "at": "t.expires_at - interval '7 days'", "answer": "t.extras"},
    {"kind": "vector", "title": "Embeddings", "table_name": "cached_vectors", "user_column": "end_user",
        "batch_column": "name", "id": "encode(t.name, 'hex')", "at": "t.created_at", "bytes": "t.bytes", "deletion": "delete_vectors($1, %s)"},
    {"kind": "verdict", "title": "Verdicts on their questions", "table_name": "cache_verdicts", "user_column": "end_users",
        "batch_column": "one_hash", "id": "encode(sha256(t.context_hash || t.one_hash || t.other_hash), 'hex')", "at": "t.given_at",
        "key_id": "null::bigint"}
]$$) with ordinality as r (fields, position)
cross join jsonb_to_record(r.fields) as d (
    kind text, title text, table_name text, user_column text, condition text, batch_column text, id text, at text, key_id text, bytes text,
    question text, answer text, sealed_question text, sealed_answer text, record text, cleared text[], deletion text
)
join (
    values
        ('end_user', '', 't.end_user', 't.end_user is not null', 't.end_user = $2'),
        (
            'end_users', ', lateral (select distinct n.name from unnest(t.end_users) as n (name)) u', 'u.name', 't.end_users is not null',
            't.end_users @> array[$2]'
        ),
        -- metadata.user_id is the tag user_id, even if another field names the end user.
        ('tags', '', $$t.tags ->> 'user_id'$$, $$t.tags ? 'user_id'$$, $$t.tags ? 'user_id' and t.tags ->> 'user_id' = $2$$),
        ('name', '', 't.name', $$t.kind = 'end_user'$$, $$t.kind = 'end_user' and t.name = $2$$),
        (
            'tag', '', $$substr(t.name, length('user_id=') + 1)$$, $$t.kind = 'tag' and starts_with(t.name, 'user_id=')$$,
            $$t.kind = 'tag' and t.name = 'user_id=' || $2$$
        )
) as u (user_column, also_from, end_user, is_named, matches) using (user_column);

comment on view end_user_tables is 'The tables that hold data of end users, with the expressions that find, export and forget it. Expressions are SQL, with the table as t.';
comment on column end_user_tables.position is 'The order in which the tables of a kind are forgotten: those that others wait for come last.';
comment on column end_user_tables.kind is 'The kind of data, in the API and in end_user_items.';
comment on column end_user_tables.title is 'The name of the kind for people.';
comment on column end_user_tables.table_name is 'The table.';
comment on column end_user_tables.user_column is 'The column that names the end user: end_user, end_users (an array), name (of a sum by end user), tags (the tag user_id), or tag (of a sum by the tag user_id).';
comment on column end_user_tables.condition is 'The rows that belong to the kind; null: all that name an end user.';
comment on column end_user_tables.batch_column is 'A column whose values few rows of an end user share: rows are forgotten in batches of its values.';
comment on column end_user_tables.id is 'The id in an export.';
comment on column end_user_tables.at is 'The time in an export.';
comment on column end_user_tables.key_id is 'The API key in an export; null: the column key_id.';
comment on column end_user_tables.bytes is 'The size; null: that of the exported texts, or of the whole row where there are none.';
comment on column end_user_tables.question is 'The text of the request; null: none is exported.';
comment on column end_user_tables.answer is 'The text of the response; null: none is exported.';
comment on column end_user_tables.sealed_question is 'The text of the request, sealed by the proxy; null: none is exported.';
comment on column end_user_tables.sealed_answer is 'The text of the response, sealed by the proxy; null: none is exported.';
comment on column end_user_tables.record is 'The row as JSON; null: it is not exported.';
comment on column end_user_tables.cleared is 'The columns that become null, of tags only the tag user_id; null: rows are deleted.';
comment on column end_user_tables.deletion is 'The call that forgets a batch (%s), where others depend on the rows. $1: the project, $2: the end user. Null: a plain statement.';
comment on column end_user_tables.also_from is 'An addition to the clause FROM.';
comment on column end_user_tables.end_user is 'The end user.';
comment on column end_user_tables.is_listed is 'The condition of the rows in end_user_items.';
comment on column end_user_tables.matches is 'The condition of the rows of one end user, $2.';

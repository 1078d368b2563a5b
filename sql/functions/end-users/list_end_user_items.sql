create or replace function list_end_user_items(
    project text,
    of_user text,
    of_kind text,
    page_size integer,
    after_time timestamptz default null,
    after_id text default null
)
returns table (
    id text,
    at timestamptz,
    key_id bigint,
    bytes bigint,
    question text,
    answer text,
    sealed_question bytea,
    sealed_answer bytea,
    record jsonb
)
language plpgsql
-- Volatile, so that it is called like a change and checks access itself: the dashboard's role cannot read all of these tables.
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    owner_id constant bigint := require_project_role(project, 'owner');
begin
    return query
    select i.id, coalesce(i.at, 'epoch'), i.key_id, i.bytes, i.question, i.answer, i.sealed_question, i.sealed_answer, i.record
    from end_user_items i
    where i.project_id = owner_id
        and i.end_user = of_user
        and i.kind = of_kind
        and (after_time is null or (coalesce(i.at, 'epoch'), i.id) > (after_time, after_id))
    order by coalesce(i.at, 'epoch'), i.id
    limit page_size;
end;
$$;

comment on function list_end_user_items(text, text, text, integer, timestamptz, text) is
    'The stored items of an end user (in the form of name_end_user()) of a project, of one kind of end_user_tables, the oldest first, after a given one. Requires an owner of the project. Null: key_id, question, answer, sealed_question, sealed_answer, record (there is none of this kind).';

-- Stored data of a project's end users: the rows of all tables in end_user_tables. Only functions that require an owner of the project read
-- it.
do $do$
begin
    drop view if exists end_user_items;
    execute 'create view end_user_items as ' || (
        select string_agg(
            format(
                'select t.project_id, %s as end_user, %L as kind, %s as id, %s as at, %s as key_id, (%s)::bigint as bytes, %s as question, '
                '%s as answer, %s as sealed_question, %s as sealed_answer, %s as record from %I t%s where t.project_id > 0 and %s',
                d.end_user, d.kind, d.id, d.at, coalesce(d.key_id, 't.key_id'),
                coalesce(
                    d.bytes,
                    (
                        select string_agg(format('coalesce(pg_column_size(%s), 0)', x.text), ' + ')
                        from unnest(array[d.question, d.answer, d.sealed_question, d.sealed_answer]) as x (text)
                        where x.text is not null
                    ),
                    'pg_column_size(t.*)'
                ),
                coalesce(d.question, 'null::text'), coalesce(d.answer, 'null::text'), coalesce(d.sealed_question, 'null::bytea'),
                coalesce(d.sealed_answer, 'null::bytea'), coalesce(d.record, 'null::jsonb'), d.table_name, d.also_from, d.is_listed
            ),
            ' union all ' order by d.position
        )
        from end_user_tables d
    );
end
$do$;

comment on view end_user_items is 'Stored data of end users, named in the form of name_end_user(), by the kinds of end_user_tables.';
comment on column end_user_items.kind is 'The kind of data.';
comment on column end_user_items.id is 'The id of the request, entry, response or object.';
comment on column end_user_items.at is 'When it was stored; null: not known.';
comment on column end_user_items.key_id is 'The key; null: not known.';
comment on column end_user_items.bytes is 'The size.';
comment on column end_user_items.question is 'The text of the request; null: it is sealed, or there is none.';
comment on column end_user_items.answer is 'The text of the response; null: it is sealed, or there is none.';
comment on column end_user_items.sealed_question is 'The text of the request, sealed by the proxy; null: it is not sealed, or there is none.';
comment on column end_user_items.sealed_answer is 'The text of the response, sealed by the proxy; null: it is not sealed, or there is none.';
comment on column end_user_items.record is 'The whole row, for records and sums; null for all other kinds.';

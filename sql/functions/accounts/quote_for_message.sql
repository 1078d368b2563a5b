create or replace function quote_for_message(value text) returns text
language sql
stable
parallel safe
set search_path = model_proxy, pg_temp
as $$
    -- JSON escapes control characters, so that an operator's input cannot break the one-line message.
    select coalesce(to_json(left(value, 100))::text, 'null');
$$;

comment on function quote_for_message(text) is 'A value as an error message may show it: quoted, on one line, at most 100 characters of it.';

create or replace function issue_key(project text, key_type text, key_name text, expires timestamptz default null) returns text
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select c.value from create_api_key(project, key_type, key_name, expires) c;
$$;

comment on function issue_key(text, text, text, timestamptz) is 'Creates a key as create_api_key() does, and returns its value. Null: expires (never).';

create or replace function create_api_key(project text, key_type text, key_name text, expires timestamptz) returns table (
    id bigint,
    value text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    value := issue_key(project, key_type, key_name, expires);
    id := find_key_id(value);
    return next;
end;
$$;

comment on function create_api_key(text, text, text, timestamptz) is 'As issue_key(), with the id of the key. Null: expires (never).';

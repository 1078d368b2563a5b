create or replace function find_key_id(key text) returns bigint
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.id from api_keys k where k.key_hash = sha256(convert_to(key, 'UTF8'));
$$;

comment on function find_key_id(text) is 'Id of a key that is given whole; null when there is none that the current user may see.';

create or replace function resolve_rotated_key(value_id bigint) returns bigint
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select coalesce(k.replaced_by, k.id) from api_keys k where k.id = value_id;
$$;

comment on function resolve_rotated_key(bigint) is 'Returns the id of a key; for a former value of a rotated key, the id of the rotated key. Null when there is none.';

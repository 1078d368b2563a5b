create or replace function key_of_value(value_id bigint) returns bigint
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select coalesce(k.replaced_by, k.id) from api_keys k where k.id = value_id;
$$;

comment on function key_of_value(bigint) is 'Id of the key: of itself, or of the one that a former value of a rotated key stands for; null when there is none.';

create or replace function key_type_id(key_type text) returns bigint
language sql
immutable
parallel safe
as $$
    select case key_type when 'test' then -1 else 0 end::bigint;
$$;

comment on function key_type_id(text) is 'The key_id of keys of this type in sums by type of key: 0 for project keys and deleted keys, -1 for test keys.';

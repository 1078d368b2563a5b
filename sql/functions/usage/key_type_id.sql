create or replace function key_type_id(key_type text) returns bigint
language sql
immutable
parallel safe
as $$
    select case key_type when 'test' then -1 else 0 end::bigint;
$$;

comment on function key_type_id(text) is 'What the sums of all projects together have in place of keys of this type: 0 of project keys, and of those that are gone; -1 of test keys.';

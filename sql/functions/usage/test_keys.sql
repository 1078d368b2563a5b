create or replace function test_keys() returns setof bigint
language sql
stable
as $$
    select k.id from api_keys k where k.type = 'test'
    union all
    select key_type_id('test');
$$;

comment on function test_keys() is 'The test keys that the current user may see, and their key_id in the sums of all projects together. All other keys are project keys, including deleted ones.';

create or replace function create_cache_lists() returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    lists bigint := nextval('cache_lists_numbers');
begin
    -- Each large group has its own table, instead of one pgvector index for all groups with iterative scans. Of 100,000 prompts of one
    -- pattern, HNSW finds as many (46 of 199, here 44), but takes twenty times as long to build, three times to store into and twice to
    -- search. IVFFlat finds fewer (37). Either takes 50 ms for a group of twenty among them, and most groups are that small. The embedded
    -- database has no HNSW. Lists need no vacuum, because nothing is deleted from them: they are rebuilt or dropped as a whole.
    execute format('create table cache_lists_%s (entry_id bigint not null, code bit(512) not null) with (autovacuum_enabled = false)', lists);
    execute format('comment on table cache_lists_%s is %L', lists, 'Codes of the prompts of one group that is too large to compare them all; see cache_groups.lists.');
    return lists;
end;
$$;

comment on function create_cache_lists() is 'Creates the table of a group''s lists, to be filled before index_cache_lists, and returns its number.';

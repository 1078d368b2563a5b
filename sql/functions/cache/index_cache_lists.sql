create or replace function index_cache_lists(lists bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, public, pg_temp
as $$
declare
    prompts bigint;
begin
    execute format('select count(*) from cache_lists_%s', lists) into prompts;
    -- IVFFlat rather than HNSW: a lookup costs half as much and an insert a fiftieth, and recall is as good. It is better where
    -- all prompts follow one pattern, so that many codes are alike.
    execute format(
        'create index cache_lists_%s_idx on cache_lists_%1$s using ivfflat (code bit_hamming_ops) with (lists = %s)',
        lists, count_cache_lists(prompts)
    );
end;
$$;

comment on function index_cache_lists(bigint) is 'Indexes a table of codes as lists of similar ones.';

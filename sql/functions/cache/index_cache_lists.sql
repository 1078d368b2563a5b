create or replace function index_cache_lists(lists bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, public, pg_temp
as $$
declare
    prompts bigint;
begin
    execute format('select count(*) from cache_lists_%s', lists) into prompts;
    -- Few lists for many prompts: a lookup compares the centre of each list, and the codes of four lists. Building more than a thousand
    -- lists would take gigabytes of memory.
    execute format(
        'create index cache_lists_%s_idx on cache_lists_%1$s using ivfflat (code bit_hamming_ops) with (lists = %s)',
        lists, least(1000, greatest(128, ceil(2 * sqrt(prompts))))
    );
end;
$$;

comment on function index_cache_lists(bigint) is 'Indexes a table of codes as lists of similar ones.';

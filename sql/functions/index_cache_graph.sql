create or replace function index_cache_graph(graph bigint) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    prompts bigint;
begin
    execute format('select count(*) from cache_graph_%s', graph) into prompts;
    -- Lists rather than HNSW: a lookup costs half as much, an insert a fiftieth, and near neighbours are found as surely; more
    -- surely where all prompts were made after one pattern, so that many codes are alike.
    execute format(
        'create index cache_graph_%s_idx on cache_graph_%1$s using ivfflat (code bit_hamming_ops) with (lists = %s)',
        graph, cache_graph_lists(prompts)
    );
end;
$$;

comment on function index_cache_graph(bigint) is 'Parts the codes in a graph''s table into lists of such as are near each other.';

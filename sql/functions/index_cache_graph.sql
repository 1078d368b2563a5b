create or replace function index_cache_graph(graph bigint) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    -- Built at once over what is there, a graph costs a third of what it does prompt by prompt.
    execute format(
        'create index cache_graph_%s_idx on cache_graph_%1$s using hnsw (code bit_hamming_ops) with (m = 16, ef_construction = 64)', graph
    );
end;
$$;

comment on function index_cache_graph(bigint) is 'Builds the graph over the codes in its table.';

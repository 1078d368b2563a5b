create or replace function create_cache_graph() returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    graph bigint := nextval('cache_graph_numbers');
begin
    -- Nothing is deleted from a graph, so that there is nothing to vacuum. It is rebuilt or dropped as a whole.
    execute format('create table cache_graph_%s (entry_id bigint not null, code bit(512) not null) with (autovacuum_enabled = false)', graph);
    execute format('comment on table cache_graph_%s is %L', graph, 'Codes of the prompts of one group that is too large to compare them all; see cache_groups.graph.');
    return graph;
end;
$$;

comment on function create_cache_graph() is 'Makes the table of a group''s graph, to be filled before index_cache_graph, and returns its number.';

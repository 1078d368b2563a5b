create or replace function add_to_cache_graph(of_group bigint, in_space integer, entry bigint, vector halfvec) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    into_graph bigint := (select g.graph from cache_groups g where g.group_key = of_group and g.space_id = in_space);
begin
    if into_graph is null then
        -- Two that find none take turns, and the second finds the first's.
        select g.graph into into_graph from cache_groups g where g.group_key = of_group and g.space_id = in_space for update;
        if not found then
            return;
        end if;
        if into_graph is null then
            into_graph := create_cache_graph();
            -- Those that were compared until now go along: a large group is found through its graph alone.
            execute format(
                $query$
                with moved as (
                    update cache_prompts p
                    set in_graph = true
                    where p.group_key = $1 and p.space_id = $2 and not p.in_graph and p.entry_id <> $3
                    returning p.entry_id, p.embedding
                )
                insert into cache_graph_%s
                select m.entry_id, cache_code(m.embedding)
                from moved m
                $query$,
                into_graph
            )
            using of_group, in_space, entry;
            perform index_cache_graph(into_graph);
            update cache_groups g set graph = into_graph where g.group_key = of_group and g.space_id = in_space;
        end if;
    end if;
    execute format('insert into cache_graph_%s values ($1, $2)', into_graph) using entry, cache_code(vector);
exception
    when undefined_table then
        -- Rebuilt and dropped in this moment. The answer is still found word for word.
        null;
end;
$$;

comment on function add_to_cache_graph(bigint, integer, bigint, halfvec) is 'Puts a prompt''s code into the graph of its group, which is made if need be.';

create or replace function add_to_cache_graph(entries bigint[]) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    large record;
    into_graph bigint;
begin
    for large in
        select p.group_key, p.space_id, array_agg(p.entry_id) as entries
        from cache_prompts p
        where p.entry_id = any (add_to_cache_graph.entries)
        group by p.group_key, p.space_id
        order by p.group_key, p.space_id
    loop
        into_graph := coalesce(
            (select g.graph from cache_groups g where g.group_key = large.group_key and g.space_id = large.space_id),
            begin_cache_graph(large.group_key, large.space_id)
        );
        continue when into_graph is null;
        begin
            execute format(
                'insert into cache_graph_%s select p.entry_id, cache_code(p.embedding) from cache_prompts p where p.entry_id = any ($1)',
                into_graph
            )
            using large.entries;
        exception
            when undefined_table then
                -- Rebuilt and dropped in this moment. The answer is still found word for word.
                null;
        end;
    end loop;
end;
$$;

comment on function add_to_cache_graph(bigint[]) is 'Puts the codes of stored prompts into the graphs of their groups, which are begun if need be.';

create or replace function rebuild_cache_graphs() returns integer
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    -- Deleted prompts that a rebuild is worth: it costs tens of microseconds for each that stays.
    worth_it constant integer := 256;
    crowded record;
    live bigint;
    rebuilt integer := 0;
    successor bigint;
begin
    -- One at a time: a second proxy has nothing to do.
    if not pg_try_advisory_xact_lock(hashtext('rebuild_cache_graphs')) then
        return 0;
    end if;
    perform set_config('lock_timeout', '2s', true);
    perform drop_unused_cache_graphs();

    for crowded in
        select g.group_key, g.space_id, g.graph, g.graph_deleted, cache_graph_is_outgrown(g.graph) as is_outgrown
        from cache_groups g
        where g.graph is not null and (g.graph_deleted >= worth_it or cache_graph_is_outgrown(g.graph))
        order by g.graph_deleted desc
    loop
        begin
            execute format(
                'select count(*) from cache_graph_%s g join cache_prompts p on p.entry_id = g.entry_id where p.in_graph', crowded.graph
            )
            into live;
            continue when live > crowded.graph_deleted and not crowded.is_outgrown;
            successor := null;
            if live > 0 then
                successor := create_cache_graph();
                -- Built of what is there; what is stored meanwhile still goes into the old one, and is fetched after.
                perform copy_cache_graph(crowded.graph, successor, crowded.group_key, crowded.space_id);
                perform index_cache_graph(successor);
                execute format('lock table cache_graph_%s in share mode', crowded.graph);
                perform copy_cache_graph(crowded.graph, successor, crowded.group_key, crowded.space_id);
            end if;
            update cache_groups g
            set graph = successor, graph_deleted = 0
            where g.group_key = crowded.group_key and g.space_id = crowded.space_id;
            rebuilt := rebuilt + 1;
        exception
            when lock_not_available then
                raise warning 'graph % is in use and will be rebuilt later', crowded.graph;
        end;
        -- The rest in a transaction of its own: a lock held for one group must not be held while others are built.
        exit;
    end loop;
    return rebuilt;
end;
$$;

comment on function rebuild_cache_graphs() is 'Drops the graphs that no group has any more, and rebuilds at most one, of which most is deleted or which has outgrown its lists; returns how many were rebuilt. It may take longer than the time limit of ordinary statements.';

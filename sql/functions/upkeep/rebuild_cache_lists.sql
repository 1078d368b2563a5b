create or replace function rebuild_cache_lists() returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    -- Deleted prompts that justify a rebuild, which costs tens of microseconds for each remaining one.
    worth_it constant integer := 256;
    crowded record;
    live bigint;
    rebuilt integer := 0;
    successor bigint;
begin
    -- One call at a time; a second proxy has nothing to do.
    if not pg_try_advisory_xact_lock(hashtext('model_proxy rebuild_cache_lists')) then
        return 0;
    end if;
    perform set_config('lock_timeout', '2s', true);
    perform drop_unused_cache_lists();

    for crowded in
        select g.group_key, g.space_id, g.lists, g.lists_deleted, cache_lists_are_outgrown(g.lists) as is_outgrown
        from cache_groups g
        where g.lists is not null and (g.lists_deleted >= worth_it or cache_lists_are_outgrown(g.lists))
        order by g.lists_deleted desc
    loop
        begin
            execute format(
                'select count(*) from cache_lists_%s g join cache_prompts p on p.entry_id = g.entry_id where p.in_lists', crowded.lists
            )
            into live;
            continue when live > crowded.lists_deleted and not crowded.is_outgrown;
            successor := null;
            if live > 0 then
                successor := create_cache_lists();
                -- Built from the current prompts. Those stored meanwhile still go into the old lists, and are copied afterwards.
                perform copy_cache_lists(crowded.lists, successor, crowded.group_key, crowded.space_id);
                perform index_cache_lists(successor);
                execute format('lock table cache_lists_%s in share mode', crowded.lists);
                perform copy_cache_lists(crowded.lists, successor, crowded.group_key, crowded.space_id);
            end if;
            update cache_groups g
            set lists = successor, lists_deleted = 0
            where g.group_key = crowded.group_key and g.space_id = crowded.space_id;
            rebuilt := rebuilt + 1;
        exception
            when lock_not_available then
                raise warning 'lists % are in use and will be rebuilt later', crowded.lists;
        end;
        -- Other groups wait for the next transaction: the lock on one group must not be held while another is built.
        exit;
    end loop;
    return rebuilt;
end;
$$;

comment on function rebuild_cache_lists() is 'Drops lists without a group, and rebuilds the lists of at most one group: the one with most deletions, or one that has outgrown its lists. Returns the number of groups rebuilt. May exceed the usual statement timeout.';

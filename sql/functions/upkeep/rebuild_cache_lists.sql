create or replace function rebuild_cache_lists() returns integer
language plpgsql
volatile
set search_path = model_proxy, public, pg_temp
as $$
declare
    -- The number of deleted prompts that justifies a rebuild, which costs tens of microseconds for each remaining prompt.
    worth_it constant integer := 256;
    -- Copies the codes of stored entries that the successor does not have yet.
    copying constant text := '
        insert into cache_lists_%2$s (entry_id, code)
        select distinct p.entry_id, vector_sign_code(p.embedding)
        from cache_lists_%1$s g
        join cache_prompts p on p.entry_id = g.entry_id
        where p.group_key = $1
            and p.space_id = $2
            and p.in_lists
            and p.expires_at > now()
            and not exists (select 1 from cache_lists_%2$s t where t.entry_id = p.entry_id)';
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
        select g.group_key, g.space_id, g.lists, g.deleted_since_build, o.is_outgrown
        from cache_groups g
        left join lateral (
            -- With more than twice the prompts of the last build, a lookup compares too many. A thousand lists are the maximum. A row takes
            -- 108 bytes of its page.
            select 2 * sqrt(pg_relation_size(i.indrelid) / 110) >= 1.5 * made.lists and 1.5 * made.lists <= 1000 as is_outgrown
            from pg_index i
            join pg_class c on c.oid = i.indexrelid
            cross join lateral (
                select p.option_value::integer as lists from pg_options_to_table(c.reloptions) p where p.option_name = 'lists'
            ) made
            where i.indrelid = to_regclass('cache_lists_' || g.lists)
        ) o on true
        where g.lists is not null and (g.deleted_since_build >= worth_it or o.is_outgrown)
        order by g.deleted_since_build desc
    loop
        begin
            execute format(
                'select count(*) from cache_lists_%s g join cache_prompts p on p.entry_id = g.entry_id where p.in_lists', crowded.lists
            )
            into live;
            continue when live > crowded.deleted_since_build and not coalesce(crowded.is_outgrown, false);
            successor := null;
            if live > 0 then
                successor := create_cache_lists();
                -- Built from the current prompts. Prompts that are stored meanwhile go into the old lists, and are copied afterwards.
                execute format(copying, crowded.lists, successor) using crowded.group_key, crowded.space_id;
                perform index_cache_lists(successor);
                execute format('lock table cache_lists_%s in share mode', crowded.lists);
                execute format(copying, crowded.lists, successor) using crowded.group_key, crowded.space_id;
            end if;
            update cache_groups g
            set lists = successor, deleted_since_build = 0
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

create or replace function add_to_cache_lists(entries bigint[]) returns void
language plpgsql
volatile
set search_path = model_proxy, public, pg_temp
as $$
declare
    large record;
    into_lists bigint;
begin
    for large in
        select p.group_key, p.space_id, array_agg(p.entry_id) as entries
        from cache_prompts p
        where p.entry_id = any (add_to_cache_lists.entries)
        group by p.group_key, p.space_id
        order by p.group_key, p.space_id
    loop
        into_lists := coalesce(
            (select g.lists from cache_groups g where g.group_key = large.group_key and g.space_id = large.space_id),
            build_cache_lists(large.group_key, large.space_id)
        );
        continue when into_lists is null;
        begin
            execute format(
                'insert into cache_lists_%s select p.entry_id, vector_sign_code(p.embedding) from cache_prompts p where p.entry_id = any ($1)',
                into_lists
            )
            using large.entries;
        exception
            when undefined_table then
                -- The lists were rebuilt or dropped at the same time. An exact match still finds the entry.
                null;
        end;
    end loop;
end;
$$;

comment on function add_to_cache_lists(bigint[]) is 'Adds the codes of stored prompts to the lists of their groups, and creates the lists if necessary.';

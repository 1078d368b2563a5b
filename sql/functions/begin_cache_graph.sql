create or replace function begin_cache_graph(of_group bigint, in_space integer) returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    begun bigint;
begin
    -- Two that find none take turns, and the second finds the first's.
    select g.graph into begun from cache_groups g where g.group_key = of_group and g.space_id = in_space for update;
    if not found or begun is not null then
        return begun;
    end if;
    begun := create_cache_graph();
    -- Those that were compared until now go along: a large group is found through its graph alone.
    execute format(
        $query$
        with moved as (
            update cache_prompts p
            set in_graph = true
            where p.group_key = $1 and p.space_id = $2 and not p.in_graph
            returning p.entry_id, p.embedding
        )
        insert into cache_graph_%s
        select m.entry_id, cache_code(m.embedding)
        from moved m
        $query$,
        begun
    )
    using of_group, in_space;
    perform index_cache_graph(begun);
    update cache_groups g set graph = begun where g.group_key = of_group and g.space_id = in_space;
    return begun;
end;
$$;

comment on function begin_cache_graph(bigint, integer) is 'Makes the graph of a group out of the prompts that were compared until now, unless it has one, and returns its number; null where the group is gone.';

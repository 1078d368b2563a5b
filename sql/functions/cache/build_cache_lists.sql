create or replace function build_cache_lists(of_group bigint, in_space integer) returns bigint
language plpgsql
volatile
set search_path = model_proxy, public, pg_temp
as $$
declare
    begun bigint;
begin
    -- Concurrent calls queue here, and the second one finds the lists of the first.
    select g.lists into begun from cache_groups g where g.group_key = of_group and g.space_id = in_space for update;
    if not found or begun is not null then
        return begun;
    end if;
    begun := create_cache_lists();
    -- Includes the prompts that were compared directly until now, because a group with lists is searched only through its lists.
    execute format(
        $query$
        with moved as (
            update cache_prompts p
            set in_lists = true
            where p.group_key = $1 and p.space_id = $2 and not p.in_lists
            returning p.entry_id, p.embedding
        )
        insert into cache_lists_%s
        select m.entry_id, vector_sign_code(m.embedding)
        from moved m
        $query$,
        begun
    )
    using of_group, in_space;
    perform index_cache_lists(begun);
    update cache_groups g set lists = begun where g.group_key = of_group and g.space_id = in_space;
    return begun;
end;
$$;

comment on function build_cache_lists(bigint, integer) is 'Creates the lists of a group from the prompts stored so far, unless it has lists, and returns their number; null when the group no longer exists.';

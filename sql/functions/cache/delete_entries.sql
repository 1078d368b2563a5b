create or replace function delete_entries(ids bigint[]) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    deleted integer;
begin
    with gone as (
        delete from cache_prompts p
        where p.entry_id = any (ids)
        returning p.group_key, p.space_id, p.in_lists, p.entry_id
    ),
    by_group as (
        select
            g.group_key,
            g.space_id,
            count(*) filter (where not g.in_lists and g.entry_id % 16 = 0) as sampled,
            count(*) filter (where g.in_lists) as in_lists
        from gone g
        where g.space_id is not null
        group by g.group_key, g.space_id
        order by g.group_key, g.space_id
    )
    update cache_groups g
    set sampled = greatest(0, g.sampled - b.sampled),
        deleted_since_build = g.deleted_since_build + b.in_lists
    from by_group b
    where g.group_key = b.group_key
        and g.space_id = b.space_id
        and (b.sampled > 0 or b.in_lists > 0);

    delete from cache_entries e where e.id = any (ids);
    get diagnostics deleted = row_count;
    return deleted;
end;
$$;

comment on function delete_entries(bigint[]) is 'Deletes these cache entries with their prompts, counts the deletions of their groups, and returns how many entries there were.';

create or replace function cache_lists_are_outgrown(lists bigint) returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    -- A row takes 108 bytes of its page. An index without lists is from an earlier release, and is replaced.
    select count_cache_lists(pg_relation_size(i.indrelid) / 110) >= 1.5 * coalesce(
        (select option_value::integer from pg_options_to_table(c.reloptions) where option_name = 'lists'),
        0
    )
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    where i.indrelid = to_regclass('cache_lists_' || lists)
$$;

comment on function cache_lists_are_outgrown(bigint) is 'Whether lists have more than twice the prompts that they were made for, so that a lookup compares too many.';

create or replace function cache_graph_is_outgrown(graph bigint) returns boolean
language sql
stable
set search_path = public, pg_temp
as $$
    -- A row takes 108 bytes of its page. An index that has no lists is of an earlier release, and is replaced.
    select cache_graph_lists(pg_relation_size(i.indrelid) / 110) >= 2 * coalesce(
        (select option_value::integer from pg_options_to_table(c.reloptions) where option_name = 'lists'),
        0
    )
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    where i.indrelid = to_regclass('cache_graph_' || graph)
$$;

comment on function cache_graph_is_outgrown(bigint) is 'Whether a graph has about four times the prompts that its lists were made for, so that a lookup compares too many.';

-- What large groups are found through are lists of codes since 000022, and are called so from here on. The tables and all that
-- belongs to them keep what is in them.
-- squawk-ignore-file renaming-column, renaming-table, require-concurrent-index-deletion, require-concurrent-index-creation
alter table cache_prompts rename column in_graph to in_lists;
alter table embedding_spaces rename column has_graphs to has_lists;
alter table cache_groups rename column graph to lists;
alter table cache_groups rename column graph_deleted to lists_deleted;
alter table cache_groups rename constraint cache_groups_graph_key to cache_groups_lists_key;
alter sequence cache_graph_numbers rename to cache_lists_numbers;

do $$
declare
    of_group record;
begin
    for of_group in
        select c.relname, c.relkind, replace(c.relname, 'graph', 'lists') as renamed
        from pg_class c
        where c.relnamespace = 'public'::regnamespace
            and c.relname ~ '^cache_graph_\d+(_idx)?$'
    loop
        execute format(
            'alter %s %I rename to %I',
            case of_group.relkind when 'i' then 'index' else 'table' end, of_group.relname, of_group.renamed
        );
    end loop;
end
$$;

comment on column cache_prompts.in_lists is 'Whether the prompt is found through the lists of its group. Small groups have none: their prompts are compared one by one.';
comment on column embedding_spaces.has_lists is 'Whether large groups get lists; without, every prompt of a group is compared.';
comment on sequence cache_lists_numbers is 'Numbers of the tables cache_lists_<number>.';
comment on column cache_groups.lists is 'Number of the table that holds the codes of the group''s prompts, in lists; null: it has none.';
comment on column cache_groups.lists_deleted is 'Prompts that were deleted since the lists were made, and are still in them.';

-- All come anew with this deploy, under other names.
drop function if exists add_to_cache_graph(bigint[]);
drop function if exists begin_cache_graph(bigint, integer);
drop function if exists cache_graph_is_outgrown(bigint);
drop function if exists cache_graph_lists(bigint);
drop function if exists copy_cache_graph(bigint, bigint, bigint, integer);
drop function if exists create_cache_graph();
drop function if exists drop_unused_cache_graphs();
drop function if exists find_in_cache_graph(bigint, halfvec);
drop function if exists index_cache_graph(bigint);

-- As for the entries in 000023: vectors are looked up by name, which must not lead through the index by expiry.
create index cached_vectors_expires_idx on cached_vectors (project_id, test, expires_at) where expires_at is not null;
drop index cached_vectors_expiry_idx;
alter index cached_vectors_expires_idx rename to cached_vectors_expiry_idx;

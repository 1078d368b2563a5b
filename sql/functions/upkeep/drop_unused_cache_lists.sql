create or replace function drop_unused_cache_lists() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    unused text;
begin
    for unused in
        select c.relname
        from pg_class c
        where c.relnamespace = 'model_proxy'::regnamespace
            and c.relkind = 'r'
            and c.relname ~ '^cache_lists_\d+$'
            and not exists (select 1 from cache_groups g where 'cache_lists_' || g.lists = c.relname)
    loop
        begin
            execute format('drop table %I', unused);
        exception
            when lock_not_available then
                raise warning '% is in use and will be dropped later', unused;
        end;
    end loop;
end;
$$;

comment on function drop_unused_cache_lists() is 'Drops list tables whose groups no longer exist or have newer lists.';

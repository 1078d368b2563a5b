-- For the previous release, which calls lists graphs.
create or replace function rebuild_cache_graphs() returns integer
language sql
volatile
set search_path = public, pg_temp
as $$
    select rebuild_cache_lists()
$$;

comment on function rebuild_cache_graphs() is 'rebuild_cache_lists() under its former name.';

create or replace function note_cache_shrinkage() returns trigger
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    insert into cache_size_changes (project_id, kind, test, entries, bytes)
    select g.project_id, tg_argv[0], g.test, -count(*), -sum(g.bytes)
    from gone g
    group by g.project_id, g.test;
    return null;
end;
$$;

comment on function note_cache_shrinkage() is 'Notes deleted entries (trigger argument answers) or vectors (vectors) in cache_size_changes.';

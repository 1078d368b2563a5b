create or replace function note_cache_shrinkage() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- The next release drops the trigger vectors_deleted: what deletes vectors counts them, since a distributed table can have no trigger.
    if tg_argv[0] = 'vectors' then
        return null;
    end if;
    insert into cache_size_changes (project_id, kind, test, entries, bytes)
    select g.project_id, tg_argv[0], g.test, -count(*), -sum(g.bytes)
    from gone g
    group by g.project_id, g.test;
    return null;
end;
$$;

comment on function note_cache_shrinkage() is 'Notes deleted entries (trigger argument answers) in cache_size_changes.';

create or replace function record_deleted_entries() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- Of entries alone: what deletes vectors counts them, since a distributed table can have no trigger.
    insert into cache_size_changes (project_id, kind, test, entries, bytes)
    select g.project_id, 'answers', g.test, -count(*), -sum(g.bytes)
    from gone g
    group by g.project_id, g.test;
    return null;
end;
$$;

comment on function record_deleted_entries() is 'Notes deleted entries in cache_size_changes.';

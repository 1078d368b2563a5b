create or replace function record_deleted_entries() returns trigger
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- Counts entries only. Functions that delete vectors count them, because a distributed table cannot have triggers.
    insert into cache_size_changes (project_id, kind, test, entries, bytes)
    select g.project_id, 'answers', g.test, -count(*), -sum(g.bytes)
    from gone g
    group by g.project_id, g.test;
    return null;
end;
$$;

comment on function record_deleted_entries() is 'Records deleted entries in cache_size_changes.';

create or replace function update_cache_sizes() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- One call at a time; a concurrent one has nothing left to do.
    if not pg_try_advisory_xact_lock(hashtext('model_proxy update_cache_sizes')) then
        return;
    end if;
    with taken as (
        delete from cache_size_changes
        returning project_id, kind, test, entries, bytes
    )
    insert into cache_sizes as s (project_id, kind, test, entries, bytes)
    select t.project_id, t.kind, t.test, sum(t.entries), sum(t.bytes)
    from taken t
    -- Changes of deleted projects are omitted.
    join projects p on p.id = t.project_id
    group by t.project_id, t.kind, t.test
    order by t.project_id, t.kind, t.test
    on conflict (project_id, kind, test) do update
    set entries = s.entries + excluded.entries,
        bytes = s.bytes + excluded.bytes;
end;
$$;

comment on function update_cache_sizes() is 'Brings cache_sizes up to date with added and deleted entries.';

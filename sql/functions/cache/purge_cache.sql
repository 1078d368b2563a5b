create or replace function purge_cache(project text) returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_cache_right(project, 'purge');
    purged bigint;
begin
    -- Redis cannot be reached from here. A new generation invalidates all copies there until they expire, and rejects responses that are
    -- still being stored.
    update projects p set cache_generation = p.cache_generation + 1 where p.id = owner_id;
    perform delete_vectors(owner_id, null);
    delete from cache_verdicts v where v.project_id = owner_id;
    delete from judge_queue q where q.project_id = owner_id;
    delete from stored_turns t where t.project_id = owner_id;
    delete from cache_entries e where e.project_id = owner_id;
    get diagnostics purged = row_count;
    perform audit('cache.purged', owner_id, 'proj_' || owner_id, jsonb_build_object('entries', purged));
    return purged;
end;
$$;

comment on function purge_cache(text) is 'Deletes every cache entry, vector and stored turn of a project, with the verdicts about them, and returns how many entries there were. Raises on an unknown project.';

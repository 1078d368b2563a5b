create or replace function purge_cache(project text) returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    owner_id bigint := open_project(project, 'member');
    purged bigint;
begin
    -- Redis is out of reach from here: a new generation makes every copy there unfindable, and they expire by themselves. It also
    -- keeps out what is still on its way here.
    update projects p set cache_generation = p.cache_generation + 1 where p.id = owner_id;
    delete from cached_vectors v where v.project_id = owner_id;
    delete from cache_verdicts v where v.project_id = owner_id;
    delete from judge_queue q where q.project_id = owner_id;
    delete from cache_groups g where g.project_id = owner_id;
    delete from cache_entries e where e.project_id = owner_id;
    get diagnostics purged = row_count;
    perform audit('cache.purged', owner_id, 'proj_' || owner_id, jsonb_build_object('entries', purged));
    return purged;
end;
$$;

comment on function purge_cache(text) is 'Forgets every cached answer and vector of a project, with the verdicts about them, and returns how many answers there were. Raises on an unknown project.';

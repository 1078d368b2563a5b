create or replace function record_contexts(contexts json) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- As in admit(): planning would cost more than running.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    most_of_a_project constant integer := 200;
begin
    perform set_config('synchronous_commit', 'off', true);

    insert into cache_contexts as c (project_id, instructions_hash, misses, last_request_id)
    select n.project_id, n.instructions_hash, n.misses, n.last_request_id
    from (
        select
            g.project_id,
            g.instructions_hash,
            count(*) as misses,
            (array_agg(g.last_request_id order by g.ordinality desc))[1] as last_request_id,
            r.instructions_hash is not null as is_recorded,
            row_number() over (partition by g.project_id, r.instructions_hash is null order by g.instructions_hash) as place,
            (select count(*) from cache_contexts k where k.project_id = g.project_id) as recorded
        from json_populate_recordset(null::cache_contexts, contexts) with ordinality as g
        -- The project may have been deleted.
        join projects p on p.id = g.project_id
        left join cache_contexts r on r.project_id = g.project_id and r.instructions_hash = g.instructions_hash
        group by g.project_id, g.instructions_hash, r.instructions_hash
    ) n
    where n.place + n.recorded <= most_of_a_project or n.is_recorded
    order by n.project_id, n.instructions_hash
    on conflict (project_id, instructions_hash) do update
    set misses = c.misses + excluded.misses,
        last_at = now(),
        last_request_id = excluded.last_request_id;
end;
$$;

comment on function record_contexts(json) is 'Counts requests that missed the cache because of their context: objects with project_id, instructions_hash and last_request_id of cache_contexts. Contexts beyond the project''s limit are not recorded.';

create or replace function delete_expired_entries(max_rows integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- Forces a search of the index on expiry for each project, whatever the planner estimates.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    expired bigint[];
    due record;
    expired_names bytea[];
    deleted_vectors integer := 0;
begin
    -- Small batches that skip rows which another proxy is deleting: locks are short, and vacuum keeps up.
    expired := array(
        select x.id
        from projects p
        cross join (values (false), (true)) as kinds (test)
        cross join lateral (
            select e.id
            from cache_entries e
            where e.project_id = p.id
                and e.test = kinds.test
                and e.expires_at <= now()
            order by e.expires_at
            limit max_rows
            for update skip locked
        ) x
        limit max_rows
    );
    if cardinality(expired) > 0 then
        delete from cache_entries e where e.id = any (expired);
    end if;

    -- One project at a time, because in a distributed database its vectors are on one server.
    for due in
        select p.id, k.test
        from projects p
        cross join (values (false), (true)) as k (test)
        -- Not `exists`, which Citus rejects between a distributed table and another.
        where (p.id, k.test) in (
            select c.project_id, c.test
            from cached_vectors c
            where c.expires_at <= now()
        )
        limit max_rows
    loop
        exit when deleted_vectors >= max_rows;
        expired_names := array(
            select c.name
            from cached_vectors c
            where c.project_id = due.id
                and c.test = due.test
                and c.expires_at <= now()
            order by c.expires_at
            limit max_rows - deleted_vectors
            for update skip locked
        );
        deleted_vectors := deleted_vectors + delete_vectors(due.id, expired_names);
    end loop;
    return greatest(cardinality(expired), deleted_vectors);
end;
$$;

comment on function delete_expired_entries(integer) is 'Deletes up to that many expired cache entries, and as many expired vectors. Returns the greater number; if it is below the limit, none are left.';

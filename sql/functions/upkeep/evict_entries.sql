create or replace function evict_entries(max_rows integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    -- The maximum number of test entries of a project. The sandbox responds to test keys, so this many are enough to try the cache.
    test_entries constant integer := 1000;
    crowded record;
    surplus bigint[];
    surplus_names bytea[];
    evicted integer := 0;
begin
    perform update_cache_sizes();
    for crowded in
        select
            s.project_id,
            s.kind,
            s.test,
            case when s.test then greatest(0, s.entries - test_entries) else 0 end as entries_over,
            -- Entries and vectors are evicted in proportion to their bytes.
            greatest(0, ceil((t.bytes - t.cache_bytes) * s.bytes::numeric / nullif(t.bytes, 0))) as bytes_over
        from (
            select z.project_id, p.cache_bytes, sum(z.bytes) as bytes
            from cache_sizes z
            join projects p on p.id = z.project_id
            group by z.project_id, p.cache_bytes
        ) t
        join cache_sizes s on s.project_id = t.project_id
        where t.bytes > t.cache_bytes or s.test and s.entries > test_entries
        order by s.project_id, s.kind, s.test
    loop
        exit when evicted >= max_rows;
        if crowded.kind = 'answers' then
            surplus := array(
                select f.id
                from (
                    select x.id, row_number() over w as nth, sum(x.bytes) over w - x.bytes as bytes_before
                    from (
                        select e.id, e.bytes, e.expires_at
                        from cache_entries e
                        where e.project_id = crowded.project_id
                            and e.test = crowded.test
                            -- True for every row: it selects the index on expiry, here and below.
                            and e.expires_at > '-infinity'
                        order by e.expires_at
                        limit max_rows - evicted
                        for update skip locked
                    ) x
                    window w as (order by x.expires_at, x.id)
                ) f
                where f.nth <= crowded.entries_over or f.bytes_before < crowded.bytes_over
            );
            delete from cache_entries e where e.id = any (surplus);
            evicted := evicted + cardinality(surplus);
        else
            surplus_names := array(
                select f.name
                from (
                    select x.name, row_number() over w as nth, sum(x.bytes) over w - x.bytes as bytes_before
                    from (
                        select c.name, c.bytes, c.expires_at
                        from cached_vectors c
                        where c.project_id = crowded.project_id
                            and c.test = crowded.test
                            and c.expires_at > '-infinity'
                        order by c.expires_at
                        limit max_rows - evicted
                        for update skip locked
                    ) x
                    window w as (order by x.expires_at, x.name)
                ) f
                where f.nth <= crowded.entries_over or f.bytes_before < crowded.bytes_over
            );
            evicted := evicted + delete_vectors(crowded.project_id, surplus_names);
        end if;
    end loop;
    return evicted;
end;
$$;

comment on function evict_entries(integer) is 'Deletes up to that many entries and vectors of projects that exceed their cache_bytes, or 1,000 for test keys: those that expire first. If the result is below the limit, no project exceeds its own.';

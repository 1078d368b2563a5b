create or replace function count_minute_requests(
    of_project bigint,
    of_key bigint,
    requested integer,
    max_requests integer,
    at_second bigint,
    in_redis integer[],
    without_redis boolean
)
returns table (granted integer, wait_seconds integer)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    total bigint;
    first_second bigint;
begin
    perform set_config('synchronous_commit', 'off', true);

    -- Batches of one key are processed one at a time. The statements below see the changes of the batch before.
    perform pg_advisory_xact_lock(hashtext('model_proxy count_minute_requests'), hashint8(of_key));

    -- Seconds far ahead were counted before the clock of Redis stepped back. Their counts are dropped.
    delete from minute_counts m where m.project_id = of_project and m.key_id = of_key and m.second > at_second + 60;

    if without_redis then
        -- Requests that other processes admitted before are counted in Redis only. Until one of these processes reports its counts, the
        -- number of recorded requests is the estimate.
        if not exists (select from api_keys k where k.id = of_key and k.minute_counted_until > now()) then
            delete from minute_counts m where m.project_id = of_project and m.key_id = of_key;
            insert into minute_counts (project_id, key_id, second, recorded)
            select of_project, of_key, at_second - r.age, count(*)
            from (
                select floor(extract(epoch from now() - u.recorded_at) + u.duration_ms / 1000)::bigint as age
                from usage_records u
                where u.project_id = of_project
                    and u.key_id = of_key
                    and u.recorded_at > now() - interval '61 seconds'
            ) r
            where r.age between 0 and 60
            group by r.age;
        end if;
        -- Changes the key's version, so that each process learns of it with its next request. The mark outlives the counts.
        update api_keys k
        set minute_counted_until = now() + interval '150 seconds'
        where (k.id = of_key or k.replaced_by = of_key)
            and (
                k.minute_counted_until is null
                or k.minute_counted_until not between now() + interval '75 seconds' and now() + interval '150 seconds'
            );
    else
        insert into minute_counts as m (project_id, key_id, second, in_redis)
        select of_project, of_key, at_second - cardinality(in_redis) + s.place, s.requests
        from unnest(in_redis) with ordinality as s (requests, place)
        where s.requests > 0
        on conflict (project_id, key_id, second) do update
        set in_redis = greatest(m.in_redis, excluded.in_redis);
    end if;

    select coalesce(sum(m.outside_redis), 0) + greatest(coalesce(sum(m.in_redis), 0), coalesce(sum(m.recorded), 0)), min(m.second)
    into total, first_second
    from minute_counts m
    where m.project_id = of_project
        and m.key_id = of_key
        and m.second > at_second - 61;

    -- With Redis, the total already includes this batch.
    granted := greatest(0, least(requested, max_requests - total + case when without_redis then 0 else requested end));
    wait_seconds := case when granted < requested then greatest(1, coalesce(first_second + 61 - at_second, 1)) else 0 end;

    if without_redis and granted > 0 then
        insert into minute_counts as m (project_id, key_id, second, outside_redis)
        values (of_project, of_key, at_second, granted)
        on conflict (project_id, key_id, second) do update
        set outside_redis = m.outside_redis + excluded.outside_redis;
    elsif not without_redis and granted < requested then
        update minute_counts m
        set in_redis = greatest(0, m.in_redis - (requested - granted))
        where m.project_id = of_project
            and m.key_id = of_key
            and m.second = at_second;
    end if;
    return next;
end;
$$;

comment on function count_minute_requests(bigint, bigint, integer, integer, bigint, integer[], boolean) is
    'Counts a key''s requests of the last 61 seconds while a process that cannot reach Redis admits some: called by that process (without_redis), which marks the key, and for a marked key by all others, with the counts of Redis for each second up to at_second, including the batch. Returns how many requests of the batch are admitted, and the seconds until another might be.';

create or replace function find_requests(
    of_project bigint,
    from_time timestamptz,
    until_time timestamptz,
    of_key bigint default null,
    model_part text default null,
    of_endpoint text default null,
    of_provider text default null,
    of_result text default null,
    of_outcome text default null,
    of_status smallint default null,
    of_error text default null,
    of_end_user text default null,
    of_request_id text default null,
    of_tags jsonb default null,
    sorted text default 'newest',
    after_time timestamptz default null,
    after_request_id text default null,
    page_size integer default 20
)
returns table (
    record usage_records,
    key_name text,
    key_prefix text
)
language plpgsql
stable
set search_path = public, pg_temp
as $$
declare
    model_pattern constant text := '%' || regexp_replace(model_part, '([\\%_])', '\\\1', 'g') || '%';
    of_class constant smallint := of_status / 100;
    chosen text := '
        select r, k.name, k.prefix
        from usage_records r
        left join api_keys k on k.id = r.key_id
        where r.project_id = $1
            and r.recorded_at >= $2
            and r.recorded_at < $3
            and ($4 is null or r.key_id = $4)
            and ($5 is null or r.model ilike $5)
            and ($6 is null or r.endpoint = $6)
            and ($7 is null or r.provider = $7)
            and ($8 is null or r.cache_result = $8)
            and ($9 is null or case $9 when ''ok'' then r.status < 400 else r.status >= 400 end)
            and ($10 is null or r.status = $10)
            and ($11 is null or r.error_code = $11)
            and ($12 is null or r.end_user = $12)
            and ($13 is null or r.request_id = $13)
            and ($17 is null or r.tags @> $17)';
    day timestamptz;
    hour timestamptz;
    wanted integer := page_size;
    found_rows integer;
begin
    if sorted <> 'newest' then
        return query execute chosen || case sorted
            when 'slowest' then '
                and r.duration_ms >= 1000
                and ($14 is null or (r.duration_ms, r.recorded_at, r.request_id) < ((
                    select a.duration_ms from usage_records a where a.project_id = $1 and a.recorded_at = $14 and a.request_id = $15 limit 1
                ), $14, $15))
                order by r.duration_ms desc, r.recorded_at desc, r.request_id desc'
            else '
                and r.cost_usd > 0
                and ($14 is null or (r.cost_usd, r.recorded_at, r.request_id) < ((
                    select a.cost_usd from usage_records a where a.project_id = $1 and a.recorded_at = $14 and a.request_id = $15 limit 1
                ), $14, $15))
                order by r.cost_usd desc, r.recorded_at desc, r.request_id desc'
            end || ' limit $16'
        using of_project, from_time, until_time, of_key, model_pattern, of_endpoint, of_provider, of_result, of_outcome, of_status,
            of_error, of_end_user, of_request_id, after_time, after_request_id, page_size, of_tags;
        return;
    end if;

    chosen := chosen || '
            and ($14 is null or r.recorded_at <= $14 and (r.recorded_at, r.request_id) < ($14, $15))
        order by r.recorded_at desc, r.request_id desc
        limit $16';
    -- These have an index of their own, or no sum tells where they are.
    if of_end_user is not null or of_request_id is not null then
        return query execute chosen
        using of_project, from_time, until_time, of_key, model_pattern, of_endpoint, of_provider, of_result, of_outcome, of_status,
            of_error, of_end_user, of_request_id, after_time, after_request_id, page_size, of_tags;
        return;
    end if;

    -- The sums tell on which days, and in which of their hours, there is anything to be found.
    for day in
        select s.at
        from usage_sums s
        where s.project_id = of_project
            and s.grain = 'day'
            and s.at > from_time - interval '1 day'
            and s.at < least(until_time, coalesce(after_time + interval '1 second', until_time))
            and (of_key is null or s.key_id = of_key)
            and (model_part is null or s.model ilike model_pattern)
            and (of_endpoint is null or s.endpoint = of_endpoint)
            and (of_provider is null or s.provider = of_provider)
            and (of_result is null or s.cache_result = of_result)
            and (of_outcome is null or case of_outcome when 'ok' then s.status_class < 4 else s.status_class >= 4 end)
            and (of_class is null or s.status_class = of_class)
        union
        select date_trunc('day', p.at, 'UTC')
        from usage_pending p
        where p.project_id = of_project
        order by 1 desc
    loop
        for hour in
            select s.at
            from usage_sums s
            where s.project_id = of_project
                and s.grain = 'hour'
                and s.at >= day
                and s.at < day + interval '1 day'
                and s.at > from_time - interval '1 hour'
                and s.at < least(until_time, coalesce(after_time + interval '1 second', until_time))
                and (of_key is null or s.key_id = of_key)
                and (model_part is null or s.model ilike model_pattern)
                and (of_endpoint is null or s.endpoint = of_endpoint)
                and (of_provider is null or s.provider = of_provider)
                and (of_result is null or s.cache_result = of_result)
                and (of_outcome is null or case of_outcome when 'ok' then s.status_class < 4 else s.status_class >= 4 end)
                and (of_class is null or s.status_class = of_class)
            union
            select date_trunc('hour', p.at, 'UTC')
            from usage_pending p
            where p.project_id = of_project
                and p.at >= day
                and p.at < day + interval '1 day'
            order by 1 desc
        loop
            return query execute chosen
            using of_project, greatest(from_time, hour), least(until_time, hour + interval '1 hour'), of_key, model_pattern, of_endpoint,
                of_provider, of_result, of_outcome, of_status, of_error, of_end_user, of_request_id, after_time, after_request_id,
                wanted, of_tags;
            get diagnostics found_rows = row_count;
            wanted := wanted - found_rows;
            if wanted <= 0 then
                return;
            end if;
        end loop;
    end loop;
end;
$$;

comment on function find_requests(
    bigint, timestamptz, timestamptz, bigint, text, text, text, text, text, smallint, text, text, text, jsonb, text, timestamptz, text, integer
) is 'Single requests of a project within a time, with what is set of: key, part of the model''s name, endpoint, provider, cache result, outcome (ok or failed), status, error code, end user, X-Request-Id, tags; those after the one at after_time. Sorted newest; slowest, of those that took a second or longer; dearest, of those that cost anything.';

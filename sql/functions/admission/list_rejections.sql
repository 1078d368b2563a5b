create or replace function list_rejections(from_time timestamptz, until_time timestamptz) returns setof rejection_count
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    return query
    with counted as materialized (
        select r.reason, r.project_id, r.key_id, sum(r.requests) as requests, max(r.hour) as latest_hour
        from rejections_hourly r
        where r.hour >= from_time
            and r.hour < until_time
        group by 1, 2, 3
    ),
    -- Read once for each project and reason, however many keys they have.
    recorded as materialized (
        select u.project_id, u.key_id, u.error_code, count(*) as records
        from (select distinct c.project_id, c.reason from counted c) d
        cross join lateral (
            select r.project_id, r.key_id, r.error_code
            from usage_records r
            where r.project_id = d.project_id
                and r.error_code = d.reason
                and r.status in (401, 403, 429)
                and r.recorded_at >= from_time
                and r.recorded_at < until_time
            offset 0
        ) u
        group by 1, 2, 3
    )
    select
        s.reason,
        'proj_' || nullif(s.project_id, 0),
        p.name,
        'key_' || nullif(s.key_id, 0),
        k.name,
        k.redacted_value,
        s.requests::natural_number,
        -- A record may be written seconds before its request is counted.
        least(s.requests, coalesce(l.records, 0))::natural_number,
        to_unix_seconds(s.latest_hour)
    from counted s
    left join projects p on p.id = s.project_id
    left join api_keys k on k.id = s.key_id
    left join recorded l on (l.project_id, l.key_id, l.error_code) = (s.project_id, s.key_id, s.reason)
    order by s.requests desc, s.reason, s.project_id, s.key_id;
end;
$$;

comment on function list_rejections(timestamptz, timestamptz) is 'Rejected requests of all projects in the hours that begin in a time, by reason and key, the most frequent first. Requires an administrator.';

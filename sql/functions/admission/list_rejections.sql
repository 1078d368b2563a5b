create or replace function list_rejections(from_time timestamptz, until_time timestamptz) returns setof rejection_count
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    return query
    select
        s.reason,
        'proj_' || nullif(s.project_id, 0),
        p.name,
        'key_' || nullif(s.key_id, 0),
        k.name,
        k.prefix || '…',
        s.requests::natural_number,
        -- A record may be written seconds before its request is counted.
        least(s.requests, l.records)::natural_number,
        to_unix_seconds(s.latest_hour)
    from (
        select r.reason, r.project_id, r.key_id, sum(r.requests) as requests, max(r.hour) as latest_hour
        from rejections_hourly r
        where r.hour >= from_time
            and r.hour < until_time
        group by 1, 2, 3
    ) s
    left join projects p on p.id = s.project_id
    left join api_keys k on k.id = s.key_id
    cross join lateral (
        select count(*) as records
        from usage_records u
        where u.project_id = s.project_id
            and u.key_id = s.key_id
            and u.error_code = s.reason
            and u.status in (401, 403, 429)
            and u.recorded_at >= from_time
            and u.recorded_at < until_time
    ) l
    order by s.requests desc, s.reason, s.project_id, s.key_id;
end;
$$;

comment on function list_rejections(timestamptz, timestamptz) is 'Rejected requests of all projects in the hours that begin in a time, by reason and key, the most frequent first. Requires an administrator.';

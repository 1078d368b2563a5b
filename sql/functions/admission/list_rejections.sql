create or replace function list_rejections(from_time timestamptz, until_time timestamptz) returns setof rejection_count
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    return query
    select r.reason, sum(r.requests)::natural_number, to_unix_seconds(max(r.hour))
    from rejections_hourly r
    where r.hour >= from_time
        and r.hour < until_time
    group by r.reason
    order by 2 desc, 1;
end;
$$;

comment on function list_rejections(timestamptz, timestamptz) is 'Rejected requests of all projects in a time, by reason, the most frequent first. Requires an administrator.';

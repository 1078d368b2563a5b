create or replace function usage_pieces(from_time timestamptz, until_time timestamptz, width text, zone text)
returns table (
    begins timestamptz,
    ends timestamptz,
    grain text
)
language sql
stable
rows 40
set search_path = public, pg_temp
as $$
    with months as (
        select m.month at time zone 'UTC' as begins, (m.month + interval '1 month') at time zone 'UTC' as ends
        from generate_series(date_trunc('month', from_time at time zone 'UTC'), until_time at time zone 'UTC', interval '1 month') as m (month)
        where width = 'all'
            and m.month >= from_time at time zone 'UTC'
            and m.month + interval '1 month' <= until_time at time zone 'UTC'
    )
    select m.begins, m.ends, 'month'
    from months m
    union all
    select
        greatest(d.day, from_time),
        least(d.day + interval '24 hours', until_time),
        case
            when d.day < from_time or d.day + interval '24 hours' > until_time then 'hour'
            when width = 'all' then 'day'
            when width in ('day', 'month') and date_trunc(width, d.day, zone) = date_trunc(width, d.day + interval '23 hours 59 minutes', zone) then 'day'
            else 'hour'
        end
    from generate_series(date_trunc('day', from_time, 'UTC'), until_time, interval '24 hours') as d (day)
    where d.day < until_time
        and not exists (
            select from months m where d.day >= m.begins and d.day < m.ends
        );
$$;

comment on function usage_pieces(timestamptz, timestamptz, text, text) is
    'Divides a time into the pieces that sums are read by: whole UTC months and days that lie in one bucket (width: hour, day or month of a zone; all: there is one bucket), hours (grain: month, day or hour) for the rest.';

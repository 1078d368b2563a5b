create or replace function whole_days(from_time timestamptz, until_time timestamptz, width text, zone text)
returns table (
    begins timestamptz,
    ends timestamptz,
    is_whole boolean
)
language sql
stable
rows 40
set search_path = public, pg_temp
as $$
    select
        greatest(d.day, from_time),
        least(d.day + interval '24 hours', until_time),
        d.day >= from_time
            and d.day + interval '24 hours' <= until_time
            and (
                width = 'all'
                or width in ('day', 'month') and date_trunc(width, d.day, zone) = date_trunc(width, d.day + interval '23 hours 59 minutes', zone)
            )
    from generate_series(date_trunc('day', from_time, 'UTC'), until_time, interval '24 hours') as d (day)
    where d.day < until_time;
$$;

comment on function whole_days(timestamptz, timestamptz, text, text) is
    'The UTC days that a time touches, cut to it, and whether all of a day lies in one bucket (width: hour, day or month of a zone; all: there is one bucket), so that sums by the day may stand for it.';

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
    with span as (
        -- Sums are kept for 13 months, and nothing is recorded ahead of time.
        select greatest(from_time, now() - interval '430 days') as begins, least(until_time, now() + interval '1 hour') as ends
    ),
    months as (
        select m.month at time zone 'UTC' as begins, (m.month + interval '1 month') at time zone 'UTC' as ends
        from span s, generate_series(date_trunc('month', s.begins at time zone 'UTC'), s.ends at time zone 'UTC', interval '1 month') as m (month)
        where width = 'all'
            and m.month >= s.begins at time zone 'UTC'
            and m.month + interval '1 month' <= s.ends at time zone 'UTC'
    ),
    days as (
        select
            greatest(d.day, s.begins) as begins,
            least(d.day + interval '24 hours', s.ends) as ends,
            d.day >= s.begins
                and d.day + interval '24 hours' <= s.ends
                and (
                    width = 'all'
                    or width in ('day', 'month')
                    and date_trunc(width, d.day, zone) = date_trunc(width, d.day + interval '23 hours 59 minutes', zone)
                ) as is_whole,
            width = 'all'
                or extract(minute from d.day at time zone zone) = 0
                and extract(minute from (d.day + interval '24 hours') at time zone zone) = 0 as has_whole_hours
        from span s, generate_series(date_trunc('day', s.begins, 'UTC'), s.ends, interval '24 hours') as d (day)
        where d.day < s.ends
            and s.begins < s.ends
            and not exists (
                select from months m where d.day >= m.begins and d.day < m.ends
            )
    ),
    -- From and until when there are whole quarters, and in these whole hours. In the order of time: each is at least the one before.
    quarters as (
        select d.*, least(q.first, d.ends) as first, greatest(q.last, least(q.first, d.ends)) as last
        from days d
        cross join lateral (
            select
                date_bin('15 minutes', d.begins + interval '15 minutes - 1 microsecond', 'epoch') as first,
                date_bin('15 minutes', d.ends, 'epoch') as last
        ) q
    ),
    hours as (
        select q.*, h.first as first_hour, greatest(h.last, h.first) as last_hour
        from quarters q
        cross join lateral (
            select
                case
                    when q.has_whole_hours then least(date_bin('1 hour', q.first + interval '1 hour - 1 microsecond', 'epoch'), q.last)
                    else q.last
                end as first,
                date_bin('1 hour', q.last, 'epoch') as last
        ) h
    )
    select m.begins, m.ends, 'month'
    from months m
    union all
    select p.begins, p.ends, p.grain
    from hours h
    cross join lateral (
        values
            (h.begins, case when h.is_whole then h.ends else h.begins end, 'day'),
            (h.begins, h.first, 'record'),
            (h.first, h.first_hour, 'quarter'),
            (h.first_hour, h.last_hour, 'hour'),
            (h.last_hour, h.last, 'quarter'),
            (h.last, h.ends, 'record')
    ) as p (begins, ends, grain)
    where p.begins < p.ends
        and (p.grain = 'day' or not h.is_whole);
$$;

comment on function usage_pieces(timestamptz, timestamptz, text, text) is
    'Divides a time into the pieces that usage is read by: whole UTC months and days that lie in one bucket (width: hour, day or month of a zone; all: there is one bucket), else hours, else quarters of an hour; single records at its two ends, where it cuts a quarter (grain: month, day, hour, quarter, record).';

create or replace function split_usage_range(from_time timestamptz, until_time timestamptz, width text, zone text)
returns table (
    begins timestamptz,
    ends timestamptz,
    grain text,
    middle interval,
    counted_at timestamptz,
    sign integer
)
language sql
stable
rows 40
set search_path = model_proxy, pg_temp
as $$
    with span as (
        -- Sums are stored for 13 months, and no record is dated in the future.
        select greatest(from_time, now() - interval '430 days') as begins, least(until_time, now() + interval '1 hour') as ends
    ),
    months as (
        select m.month at time zone 'UTC' as begins, (m.month + interval '1 month') at time zone 'UTC' as ends
        from span s, generate_series(date_trunc('month', s.begins at time zone 'UTC'), s.ends at time zone 'UTC', interval '1 month') as m (month)
        where width = 'month'
            and m.month >= s.begins at time zone 'UTC'
            and m.month + interval '1 month' <= s.ends at time zone 'UTC'
    ),
    days as (
        select
            greatest(d.day, s.begins) as begins,
            least(d.day + interval '24 hours', s.ends) as ends,
            width <> 'hour' and d.day >= s.begins and d.day + interval '24 hours' <= s.ends as is_whole,
            extract(minute from d.day at time zone zone) = 0
                and extract(minute from (d.day + interval '24 hours') at time zone zone) = 0 as has_whole_hours
        from span s, generate_series(date_trunc('day', s.begins, 'UTC'), s.ends, interval '24 hours') as d (day)
        where width <> 'all'
            and d.day < s.ends
            and s.begins < s.ends
            and not exists (
                select from months m where d.day >= m.begins and d.day < m.ends
            )
    ),
    -- Each month or day is counted in the bucket that contains its middle.
    wholes as (
        select w.*, date_trunc(width, w.middle, zone) as bucket_start,
            (date_trunc(width, w.middle at time zone zone) + ('1 ' || width)::interval) at time zone zone as bucket_end
        from (
            select m.begins, m.ends, m.begins + interval '14 days' as middle from months m
            union all
            select d.begins, d.ends, d.begins + interval '12 hours' from days d where d.is_whole
        ) w
    ),
    parts as (
        select d.begins, d.ends, d.has_whole_hours, null::timestamptz as rightful, null::timestamptz as wrong from days d where not d.is_whole
        union all
        -- A part that belongs to the bucket before or after is moved there, day by day.
        select greatest(o.begins, d.day), least(o.ends, d.day + interval '24 hours'), true, o.rightful, o.wrong
        from (
            select w.begins, w.bucket_start as ends, date_trunc(width, w.begins, zone) as rightful, w.bucket_start as wrong
            from wholes w
            where w.begins < w.bucket_start
            union all
            select w.bucket_end, w.ends, w.bucket_end, w.bucket_start
            from wholes w
            where w.bucket_end < w.ends
        ) o
        cross join generate_series(date_trunc('day', o.begins, 'UTC'), o.ends - interval '1 microsecond', interval '24 hours') as d (day)
    ),
    -- The bounds of the whole quarters, and of the whole hours within them. Each bound is at least the one before.
    quarters as (
        select d.*, least(q.first, d.ends) as first, greatest(q.last, least(q.first, d.ends)) as last
        from parts d
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
    -- Consecutive months form one piece, because there are no gaps between them.
    select min(m.begins), max(m.ends), 'month', interval '14 days', null::timestamptz, 1
    from months m
    having count(*) > 0
    union all
    select min(d.begins), max(d.ends), 'day', interval '12 hours', null, 1
    from days d
    where d.is_whole
    group by d.begins < (select min(m.begins) from months m)
    union all
    -- Without buckets, pieces may be subtracted, so that fewer are read.
    select r.begins, r.ends, r.grain, interval '0', null, r.sign
    from split_range(from_time, until_time, '{month,day,hour,quarter}') r
    where width = 'all'
    union all
    select p.begins, p.ends, p.grain, interval '0', c.at, c.sign
    from hours h
    cross join lateral (
        values
            (h.begins, h.first, 'record'),
            (h.first, h.first_hour, 'quarter'),
            (h.first_hour, h.last_hour, 'hour'),
            (h.last_hour, h.last, 'quarter'),
            (h.last, h.ends, 'record')
    ) as p (begins, ends, grain)
    cross join lateral (
        values (h.rightful, 1), (h.wrong, -1)
    ) as c (at, sign)
    where p.begins < p.ends
        and (c.sign = 1 or h.wrong is not null);
$$;

comment on function split_usage_range(timestamptz, timestamptz, text, text) is
    'Divides a time into the pieces by which usage is read: whole UTC months (width: month) and days (day, month), which count in the bucket that contains their middle; otherwise hours, otherwise quarters of an hour; and single records at both ends, if these are within a quarter (grain: month, day, hour, quarter, record; middle: the distance from the beginning of each to its middle). The part of a month or day that is in the bucket before or after is read again and moved: subtracted (sign: -1) from one bucket, and added (1) to the other, which begins at counted_at. Without buckets (width: all), the pieces are those of split_range(). Null: counted_at (not moved).';

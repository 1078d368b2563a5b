create or replace function split_range_by_days(from_time timestamptz, until_time timestamptz)
returns table (
    begins timestamptz,
    ends timestamptz,
    grain text,
    sign integer
)
language sql
stable
rows 20
set search_path = model_proxy, pg_temp
as $$
    with months as (
        select
            m.begins, m.ends, greatest(m.begins, from_time) as first,
            -- Nothing is dated in the future, so that the current month up to now is the whole month.
            least(m.ends, case when until_time < now() then until_time else m.ends end) as last
        from (
            select s.month at time zone 'UTC' as begins, (s.month + interval '1 month') at time zone 'UTC' as ends
            from generate_series(
                -- Sums are stored for 13 months.
                date_trunc('month', greatest(from_time, now() - interval '430 days') at time zone 'UTC'),
                least(until_time, now()) at time zone 'UTC',
                interval '1 month'
            ) as s (month)
        ) m
    ),
    -- More than half of a month is the month less its other days.
    spans as (
        select s.*
        from months m
        cross join lateral (select m.last - m.first > (m.ends - m.begins) / 2 as is_most) h
        cross join lateral (
            values
                (m.begins, m.ends, 'month', 1, h.is_most),
                (m.begins, m.first, 'day', -1, h.is_most),
                (m.last, m.ends, 'day', -1, h.is_most),
                (m.first, m.last, 'day', 1, not h.is_most)
        ) as s (begins, ends, grain, sign, applies)
        where m.first < m.last
            and s.applies
            and s.begins < s.ends
    ),
    -- Likewise, more than half of a day is the day less its other records.
    days as (
        select s.sign, d.day as begins, d.day + interval '24 hours' as ends, greatest(d.day, s.begins) as first, least(d.day + interval '24 hours', s.ends) as last
        from spans s
        cross join generate_series(date_trunc('day', s.begins, 'UTC'), s.ends - interval '1 microsecond', interval '24 hours') as d (day)
        where s.grain = 'day'
    )
    select s.begins, s.ends, s.grain, s.sign from spans s where s.grain = 'month'
    union all
    select p.begins, p.ends, p.grain, d.sign * p.sign
    from days d
    cross join lateral (select d.last - d.first > interval '12 hours' as is_most) h
    cross join lateral (
        values
            (d.begins, d.ends, 'day', 1, h.is_most),
            (d.begins, d.first, 'record', -1, h.is_most),
            (d.last, d.ends, 'record', -1, h.is_most),
            (d.first, d.last, 'record', 1, not h.is_most)
    ) as p (begins, ends, grain, sign, applies)
    where p.applies
        and p.begins < p.ends;
$$;

comment on function split_range_by_days(timestamptz, timestamptz) is
    'Divides a time into UTC months and days of which sums exist, and records (grain: month, day, record). Pieces whose sign is -1 are subtracted: more than half of a month or of a day is read as a whole, less the rest.';

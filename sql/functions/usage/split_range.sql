create or replace function split_range(from_time timestamptz, until_time timestamptz, grains text[])
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
    with recursive parts (begins, ends, sign, level, is_whole) as (
        select
            -- Sums are stored for 13 months.
            greatest(from_time, now() - interval '430 days'),
            -- Nothing is dated in the future, so that the current month up to now is the whole month.
            case when until_time < now() then until_time else (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC' end,
            1, 0, false
        union all
        select s.begins, s.ends, p.sign * s.sign, p.level + 1, s.is_whole
        from parts p
        cross join lateral (select grains[p.level + 1] as grain) g
        cross join lateral (
            select t.begins, t.ends
            from generate_series(
                date_trunc('month', p.begins at time zone 'UTC'), (p.ends - interval '1 microsecond') at time zone 'UTC', interval '1 month'
            ) as m (month)
            cross join lateral (
                values ('month', 0, null), ('third', 0, 10), ('third', 10, 20), ('third', 20, null)
            ) as d (grain, first_day, last_day)
            cross join lateral (
                select
                    (m.month + make_interval(days => d.first_day)) at time zone 'UTC' as begins,
                    (m.month + coalesce(make_interval(days => d.last_day), interval '1 month')) at time zone 'UTC' as ends
            ) t
            where d.grain = g.grain
            union all
            select t.begins, t.begins + l.length
            from (select case g.grain when 'day' then interval '24 hours' when 'hour' then interval '1 hour' when 'quarter' then interval '15 minutes' end) as l (length)
            cross join generate_series(date_bin(l.length, p.begins, 'epoch'), p.ends - interval '1 microsecond', l.length) as t (begins)
        ) u
        cross join lateral (select greatest(u.begins, p.begins) as first, least(u.ends, p.ends) as last) c
        -- More than half of a unit is the unit less its other parts.
        cross join lateral (select c.last - c.first > (u.ends - u.begins) / 2 as is_most) h
        cross join lateral (
            values
                (u.begins, u.ends, 1, true, h.is_most),
                (u.begins, c.first, -1, false, h.is_most),
                (c.last, u.ends, -1, false, h.is_most),
                (c.first, c.last, 1, false, not h.is_most)
        ) as s (begins, ends, sign, is_whole, applies)
        where not p.is_whole
            and s.applies
            and s.begins < s.ends
    ),
    pieces as (
        select p.begins, p.ends, p.sign, case when p.is_whole then grains[p.level] else 'record' end as grain
        from parts p
        where p.is_whole
            or p.level = cardinality(grains)
    ),
    -- Consecutive pieces are read together.
    numbered as (
        select p.*, count(*) filter (where not p.follows) over (partition by p.grain, p.sign order by p.begins) as run
        from (
            select p.*, coalesce(lag(p.ends) over (partition by p.grain, p.sign order by p.begins) = p.begins, false) as follows from pieces p
        ) p
    )
    select min(n.begins), max(n.ends), n.grain, n.sign
    from numbered n
    group by n.grain, n.sign, n.run;
$$;

comment on function split_range(timestamptz, timestamptz, text[]) is
    'Divides a time into UTC months, thirds of a month (which begin on the 1st, 11th and 21st), days, hours and quarters of an hour, of which sums exist (grains: some of these, longest first), and records. Pieces whose sign is -1 are subtracted: more than half of a unit is read as a whole, less the rest. Consecutive pieces are one.';

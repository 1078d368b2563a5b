create or replace function correct_future_timestamps() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    -- What is dated later was dated by a clock that ran ahead.
    latest constant timestamptz := now() + interval '1 minute';
    wrong record;
begin
    for wrong in
        with moments as (
            select
                c.oid::regclass as place,
                quote_ident(a.attname) as at,
                m.comment like '%Ahead%' as may_be_ahead,
                quote_ident(substring(m.comment from 'Ahead of (\w+)')) as begins,
                now() + substring(m.comment from 'Ahead: at most ([^.]+)')::interval as latest_end
            from pg_class c
            join pg_attribute a on a.attrelid = c.oid
            cross join lateral coalesce(col_description(c.oid, a.attnum), '') m (comment)
            where c.relnamespace = 'model_proxy'::regnamespace
                and c.relkind = 'r'
                and not c.relispartition
                and a.atttypid = 'timestamptz'::regtype
                -- Others begin a period, which names a row.
                and (a.attname like '%\_at' or m.comment like '%Ahead%')
                -- What a record tells.
                and a.attname not in ('recorded_at', 'charged_at')
        ),

        changes as (
            select
                m.place,
                m.at,
                case
                    when not m.may_be_ahead then format('%s > %L', m.at, latest)
                    when m.begins is not null then format('%s > %L', m.begins, latest)
                    when m.latest_end is not null then format('%1$s > %2$L and %1$s < %3$L', m.at, m.latest_end, 'infinity')
                end as is_wrong,
                case
                    when not m.may_be_ahead then format('%L', now())
                    -- It ends as long after its beginning as it was to.
                    when m.begins is not null then format('%s - (%s - %L::timestamptz)', m.at, m.begins, now())
                    else format('%L', m.latest_end)
                end as mended
            from moments m
        )

        select
            c.place,
            string_agg(format('%1$s = case when %2$s then %3$s else %1$s end', c.at, c.is_wrong, c.mended), ', ') as mends,
            string_agg(c.is_wrong, ' or ') as is_wrong
        from changes c
        where c.is_wrong is not null
        group by c.place
    loop
        begin
            execute format('update %s set %s where %s', wrong.place, wrong.mends, wrong.is_wrong);
        exception
            when query_canceled then
                raise warning '% was not looked through in time', wrong.place;
        end;
    end loop;
end;
$$;

comment on function correct_future_timestamps() is
    'Dates anew what a clock dated that ran ahead and was put back: keys, sessions, leases and entries of the cache would outlive their time, and what is to wait would wait for a year. Records keep the time that they were given. A column named …_at dates what has happened, unless its comment says how far ahead it may lie: "Ahead of created_at", as long after that as it was; "Ahead: at most 5 minutes" from now; or "Ahead", and why it is left alone.';

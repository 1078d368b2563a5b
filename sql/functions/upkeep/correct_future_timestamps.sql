create or replace function correct_future_timestamps() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    -- Later timestamps come from a clock that ran ahead.
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
                -- Other columns contain the start of a period, which identifies a row.
                and (a.attname like '%\_at' or m.comment like '%Ahead%')
                -- The times in usage records stay.
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
                    -- The distance between start and end stays.
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
    'Corrects the timestamps written by a clock that ran ahead and was set back: otherwise keys, sessions, leases and cache entries would outlive their time, and delayed work could wait for a year. Usage records keep their times. A column named …_at is the time of a past event, unless its comment says how far ahead it may be: "Ahead of created_at", as long after that as before; "Ahead: at most 5 minutes" from now; or "Ahead", and why it is not changed.';

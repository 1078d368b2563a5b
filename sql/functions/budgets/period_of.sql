create or replace function period_of(per text, zone text, at timestamptz) returns table (begins timestamptz, ends timestamptz)
language sql
stable
set search_path = public, pg_temp
as $$
    select 'epoch'::timestamptz, 'infinity'::timestamptz
    where per = 'total'
    union all
    select local.begins at time zone zone, (local.begins + ('1 ' || unit.name)::interval) at time zone zone
    -- A plan may evaluate this for a total, too, before it leaves the row out.
    from (select case per when 'total' then 'day' else per end as name) unit
    cross join lateral (select date_trunc(unit.name, at at time zone zone) as begins) local
    where per <> 'total';
$$;

comment on function period_of(text, text, timestamptz) is
    'The day, week (from Monday) or month of a time zone that a moment lies in, from its first moment to the first one after it; of a total, all time.';

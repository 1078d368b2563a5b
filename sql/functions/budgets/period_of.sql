create or replace function period_of(per text, zone text, at timestamptz) returns table (begins timestamptz, ends timestamptz)
language sql
stable
set search_path = public, pg_temp
as $$
    select 'epoch'::timestamptz, 'infinity'::timestamptz
    where per = 'total'
    union all
    select local.begins at time zone zone, (local.begins + ('1 ' || per)::interval) at time zone zone
    from (select date_trunc(per, at at time zone zone) as begins) local
    where per <> 'total';
$$;

comment on function period_of(text, text, timestamptz) is
    'The day, week (from Monday) or month of a time zone that a moment lies in, from its first moment to the first one after it; of a total, all time.';

create or replace function current_month() returns date
language sql
stable
parallel safe
set search_path = public, pg_temp
as $$
    select date_trunc('month', now() at time zone 'utc')::date;
$$;

comment on function current_month() is 'First day of the current calendar month in UTC: what quotas are counted by.';

create or replace function current_month() returns date
language sql
stable
-- No search path of its own: with one, it could not be inlined, and starting it would cost more than what it does.
parallel safe
as $$
    select date_trunc('month', now() at time zone 'utc')::date;
$$;

comment on function current_month() is 'First day of the current calendar month in UTC: what quotas are counted by.';

create or replace function current_month() returns date
language sql
stable
-- No search path of its own, because PostgreSQL could not inline the function then, and the call would cost more than its body.
parallel safe
as $$
    select date_trunc('month', now() at time zone 'utc')::date;
$$;

comment on function current_month() is 'First day of the current calendar month in UTC, by which quotas are counted.';

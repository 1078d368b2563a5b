create or replace function current_month() returns date
language sql
stable
-- A search_path setting would prevent inlining, and the call would cost more than the body.
parallel safe
as $$
    select date_trunc('month', now() at time zone 'utc')::date;
$$;

comment on function current_month() is 'First day of the current calendar month in UTC, by which quotas are counted.';

create or replace function seconds_of(at timestamptz) returns unix_seconds
language sql
immutable
strict
parallel safe
as $$
    select floor(extract(epoch from at))::bigint;
$$;

comment on function seconds_of(timestamptz) is 'Unix seconds, as the admin API tells times.';

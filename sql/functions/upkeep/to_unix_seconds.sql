create or replace function to_unix_seconds(at timestamptz) returns unix_seconds
language sql
immutable
strict
parallel safe
as $$
    select floor(extract(epoch from at))::bigint;
$$;

comment on function to_unix_seconds(timestamptz) is 'Converts to Unix seconds, the format of times in the admin API.';

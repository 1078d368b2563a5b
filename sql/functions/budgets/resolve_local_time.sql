create or replace function resolve_local_time(local timestamp, zone text) returns timestamptz
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    usual constant timestamptz := local at time zone zone;
    near timestamptz;
    candidate timestamptz;
    first timestamptz;
begin
    -- The local time occurs twice if the clock is set back, and not at all if it is set forward. It is tested with the offset of the day
    -- before and with the offset of the day after.
    foreach near in array array[usual - interval '1 day', usual + interval '1 day'] loop
        candidate := (local - (near at time zone zone - near at time zone 'UTC')) at time zone 'UTC';
        if candidate at time zone zone >= local and (first is null or candidate < first) then
            first := candidate;
        end if;
    end loop;
    return coalesce(first, usual);
end;
$$;

comment on function resolve_local_time(timestamp, text) is
    'The first moment at which clocks of a time zone show this time, or a later one if they skip it.';

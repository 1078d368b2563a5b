create or replace function doubtful_reservation_ttl() returns interval
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select interval '6 hours';
$$;

comment on function doubtful_reservation_ttl() is 'The time for which the possible cost of a request beyond its estimate stays reserved, unless its cost is settled earlier.';

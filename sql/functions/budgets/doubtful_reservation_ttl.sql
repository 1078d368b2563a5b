create or replace function doubtful_reservation_ttl() returns interval
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select interval '6 hours';
$$;

comment on function doubtful_reservation_ttl() is 'How long what a request may have cost beyond its estimate stays reserved, unless somebody says earlier what it cost.';

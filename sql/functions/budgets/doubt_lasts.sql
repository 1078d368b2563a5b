create or replace function doubt_lasts() returns interval
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select interval '6 hours';
$$;

comment on function doubt_lasts() is 'How long what a request may have cost beyond its estimate stays reserved, unless somebody says earlier what it cost.';

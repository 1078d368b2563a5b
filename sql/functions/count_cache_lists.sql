create or replace function count_cache_lists(prompts bigint) returns integer
language sql
immutable
set search_path = public, pg_temp
as $$
    -- Few for many prompts: a lookup compares the codes of four lists, and the centre of each. More than a thousand would take
    -- gigabytes to build.
    select least(1000, greatest(128, ceil(2 * sqrt(prompts))))::integer;
$$;

comment on function count_cache_lists(bigint) is 'Into how many lists of codes near each other so many prompts are parted.';

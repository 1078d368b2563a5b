create or replace function count_cache_lists(prompts bigint) returns integer
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    -- Few lists for many prompts: a lookup compares the centre of each list, and the codes of four lists. More than a thousand
    -- would take gigabytes to build.
    select least(1000, greatest(128, ceil(2 * sqrt(prompts))))::integer;
$$;

comment on function count_cache_lists(bigint) is 'Number of lists for this many prompts.';

create or replace function lock_cache_version(of_project bigint, for_test boolean, in_namespace text, named text) returns bigint
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- A purge of older versions runs entirely before or after the transaction. A version that another transaction supersedes is skipped.
    select v.id
    from cache_versions v
    where v.project_id = of_project
        and v.test = for_test
        and v.namespace = in_namespace
        and v.name = split_part(named, '@', 1)
        and v.version = split_part(named, '@', 2)
        and v.superseded_at is null
    for share skip locked;
$$;

comment on function lock_cache_version(bigint, boolean, text, text) is 'Returns the id of a version, given as name@version, if it is the newest of its name, and locks it until the end of the transaction, so that it remains the newest. Else null: then nothing is stored under it.';

create or replace function name_cache_version(of_project bigint, for_test boolean, in_namespace text, named text) returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    given_name constant text := split_part(named, '@', 1);
    given_version constant text := split_part(named, '@', 2);
    newest record;
    is_old boolean;
begin
    -- Requests that name new versions of one name at the same time take turns.
    perform pg_advisory_xact_lock(
        hashtext('model_proxy name_cache_version'),
        hashtext(concat_ws(E'\n', of_project, for_test, in_namespace, given_name))
    );
    update cache_versions v
    set last_named_at = now()
    where v.project_id = of_project
        and v.test = for_test
        and v.namespace = in_namespace
        and v.name = given_name
        and v.version = given_version
    returning v.superseded_at is not null into is_old;
    if found then
        return is_old;
    end if;

    select v.id, v.version
    into newest
    from cache_versions v
    where v.project_id = of_project
        and v.test = for_test
        and v.namespace = in_namespace
        and v.name = given_name
        and v.superseded_at is null;
    -- By the numbers between their dots, if both versions consist of such numbers; else the one that is named later is newer.
    is_old := case
        when given_version ~ '^\d+(\.\d+)*$' and newest.version ~ '^\d+(\.\d+)*$'
            then string_to_array(given_version, '.')::numeric[] < string_to_array(newest.version, '.')::numeric[]
        else false
    end;
    if not is_old then
        -- Waits for responses that are being stored under the former version, so that the purge finds them. Later ones are rejected.
        update cache_versions v set superseded_at = now() where v.id = newest.id;
    end if;
    insert into cache_versions (project_id, test, namespace, name, version, superseded_at, purged)
    values (of_project, for_test, in_namespace, given_name, given_version, case when is_old then now() end, is_old);
    return is_old;
end;
$$;

comment on function name_cache_version(bigint, boolean, text, text) is 'Records that a request names a version, given as name@version, and returns whether it is older than the newest of its name. A version that is new and not older becomes the newest: purge_old_versions() then deletes what is stored under the former one.';

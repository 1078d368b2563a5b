create or replace function invalidate_cache(
    project text,
    entry_id bigint default null,
    of_model text default null,
    of_namespace text default null,
    older_than_seconds bigint default null,
    of_key bigint default null,
    of_user text default null,
    of_version text default null,
    dry_run boolean default true
)
returns table (entries bigint, vectors bigint)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    owner_id bigint := require_cache_right(project, 'purge');
    is_whole constant boolean :=
        coalesce(entry_id::text, of_model, of_namespace, older_than_seconds::text, of_key::text, of_user, of_version) is null;
    -- Vectors have no model and no namespace, and their age alone is no reason to delete them.
    is_for_vectors constant boolean :=
        coalesce(entry_id::text, of_model, of_namespace) is null and (is_whole or coalesce(of_key::text, of_user, of_version) is not null);
    oldest constant timestamptz := now() - make_interval(secs => older_than_seconds);
    chosen_versions bigint[];
    chosen bigint[];
    chosen_vectors bytea[] := '{}';
begin
    if of_user = '' then
        raise exception 'the end user must not be empty' using errcode = 'invalid_parameter_value';
    end if;
    if of_key is not null and not exists (select from api_keys k where k.id = of_key and k.project_id = owner_id) then
        raise exception 'this project has no such key' using errcode = 'no_data_found';
    end if;
    if not dry_run then
        -- Redis cannot be reached from here. A new generation invalidates all copies and aliases there; entries that stay are read from the
        -- database again. The update comes first: it waits for responses that are being stored, so that they can be chosen below, and later
        -- ones are rejected.
        update projects p set cache_generation = p.cache_generation + 1 where p.id = owner_id;
    end if;
    if of_version is not null then
        chosen_versions := array(
            select v.id from cache_versions v where v.project_id = owner_id and of_version in (v.name, v.name || '@' || v.version)
        );
    end if;
    if is_for_vectors then
        select coalesce(array_agg(v.name), '{}') into chosen_vectors
        from cached_vectors v
        where v.project_id = owner_id
            and (of_key is null or v.key_id = of_key)
            and (of_user is null or v.end_user = of_user)
            and (of_version is null or v.version_id = any (chosen_versions))
            and (older_than_seconds is null or v.created_at < oldest);
        vectors := cardinality(chosen_vectors);
    else
        vectors := 0;
    end if;
    if is_whole and not dry_run then
        entries := purge_cache(project);
        return next;
        return;
    end if;
    select coalesce(array_agg(e.id), '{}') into chosen
    from cache_entries e
    where e.project_id = owner_id
        and (entry_id is null or e.id = entry_id)
        and (of_model is null or e.model = of_model)
        and (of_namespace is null or e.namespace = of_namespace)
        and (older_than_seconds is null or e.created_at < oldest)
        and (of_key is null or e.key_id = of_key)
        and (of_user is null or e.end_user = of_user)
        and (of_version is null or e.version_id = any (chosen_versions));
    entries := cardinality(chosen);
    return next;
    if dry_run then
        return;
    end if;
    -- Deletes pairs that wait for the judge, and verdicts of people.
    delete from judge_queue q where q.project_id = owner_id and q.end_user = of_user and is_for_vectors;
    delete from cache_verdicts v where v.project_id = owner_id and v.end_users @> array[of_user] and is_for_vectors;
    -- A whole name is forgotten: whichever of its versions is named next is the newest. Calls in flight store nothing.
    if coalesce(entry_id::text, of_model, of_namespace, older_than_seconds::text, of_key::text, of_user) is null then
        delete from cache_versions v where v.id = any (chosen_versions) and v.name = of_version;
    end if;
    if entries + vectors = 0 then
        return;
    end if;
    perform delete_vectors(owner_id, chosen_vectors);
    delete from cache_entries e where e.id = any (chosen);
    perform audit(
        'cache.invalidated', owner_id, 'proj_' || owner_id,
        jsonb_build_object(
            'entries', entries, 'vectors', vectors, 'entry_id', entry_id, 'model', of_model, 'namespace', of_namespace,
            'older_than_seconds', older_than_seconds, 'api_key_id', 'key_' || of_key, 'api_key', find_target_name('key_' || of_key),
            -- The name of the end user is omitted, because the log outlives the deleted data.
            'version', of_version,
            'of_an_end_user', case when of_user is not null then true end
        )
    );
end;
$$;

comment on function invalidate_cache(text, bigint, text, text, bigint, bigint, text, text, boolean) is
    'Deletes the cached responses of a project that match every given filter, and returns how many; dry_run only counts. of_key, of_user (in the form of name_end_user()): those that a request of that key or end user created, and without other filters than an age, their vectors, too. of_version: name@version, or a name: its vectors, too, and without another filter the order of its versions is forgotten. Without any filter it is purge_cache(). Requires a member of the project.';

create or replace function invalidate_cache(
    project text,
    entry_id bigint,
    of_model text,
    of_namespace text,
    older_than_seconds bigint,
    dry_run boolean
)
returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    owner_id bigint := open_project(project, 'member');
    chosen bigint[];
begin
    if not dry_run then
        -- Redis cannot be reached from here: a new generation hides every copy there. Entries that stay are read from here again. It
        -- comes first: responses that are being stored are waited for, and chosen from, and any later ones are kept out.
        update projects p set cache_generation = p.cache_generation + 1 where p.id = owner_id;
    end if;
    select coalesce(array_agg(e.id), '{}') into chosen
    from cache_entries e
    where e.project_id = owner_id
        and (entry_id is null or e.id = entry_id)
        and (of_model is null or e.model = of_model)
        and (of_namespace is null or e.namespace = of_namespace)
        and (older_than_seconds is null or e.created_at < now() - make_interval(secs => older_than_seconds));
    if dry_run or cardinality(chosen) = 0 then
        return cardinality(chosen);
    end if;
    delete from cache_entries e where e.id = any (chosen);
    perform audit(
        'cache.invalidated', owner_id, 'proj_' || owner_id,
        jsonb_build_object(
            'entries', cardinality(chosen), 'entry_id', entry_id, 'model', of_model, 'namespace', of_namespace,
            'older_than_seconds', older_than_seconds
        )
    );
    return cardinality(chosen);
end;
$$;

comment on function invalidate_cache(text, bigint, text, text, bigint, boolean) is
    'Deletes the cache entries of a project that match every given filter, and returns how many; dry_run only counts. Takes a member of the project. purge_cache() deletes vectors as well. Null: entry_id, of_model, of_namespace, older_than_seconds (any).';

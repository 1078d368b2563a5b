create or replace function remove_provider_key(project text, provider text, name text) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    owner_id bigint := require_project_role(project, 'owner');
    removed text;
begin
    -- Locks the project as in store_provider_key().
    perform 1 from projects p where p.id = owner_id for no key update;
    delete from provider_keys k
    where k.project_id = owner_id
        and k.provider = remove_provider_key.provider
        and k.name = remove_provider_key.name
    returning k.last_four into removed;
    if removed is null then
        raise exception 'project % has no key named % for provider %',
            quote_for_message(project), quote_for_message(name), quote_for_message(provider)
            using errcode = 'no_data_found';
    end if;
    update provider_keys k set version = default where k.project_id = owner_id and k.provider = remove_provider_key.provider;
    perform audit('provider_key.deleted', owner_id, provider, jsonb_build_object('last_four', removed, 'name', name));
    return removed;
end;
$$;

comment on function remove_provider_key(text, text, text) is 'Deletes a project''s key of this name for a direct provider and returns its last four characters; not used from the next request on. Raises on an unknown project and when there is no such key.';

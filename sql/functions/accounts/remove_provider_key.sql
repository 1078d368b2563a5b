create or replace function remove_provider_key(project text, provider text) returns text
language plpgsql
volatile
set search_path = public, pg_temp
as $$
#variable_conflict use_variable
declare
    owner_id bigint := open_project(project, 'owner');
    removed text;
begin
    delete from provider_keys k
    where k.project_id = owner_id and k.provider = remove_provider_key.provider
    returning k.last_four into removed;
    if removed is null then
        raise exception 'project % has no key for provider %', quote_for_message(project), quote_for_message(provider)
            using errcode = 'no_data_found';
    end if;
    perform audit('provider_key.deleted', owner_id, provider, jsonb_build_object('last_four', removed));
    return removed;
end;
$$;

comment on function remove_provider_key(text, text) is 'Deletes a project''s key for a direct provider and returns its last four characters; not used from the next request on. Raises on an unknown project and when there is no such key.';

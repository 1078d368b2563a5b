create or replace function deactivate_key_with_id(key_id bigint) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    found_key api_keys;
begin
    select * into found_key from api_keys k where k.id = key_id for no key update;
    if found_key.id is null then
        raise exception 'API key key_% does not exist', key_id using errcode = 'no_data_found';
    end if;
    perform authorize(found_key.project_id, 'member');
    if found_key.deactivated_at is null then
        -- Includes the key's former values.
        update api_keys k set deactivated_at = now() where key_id in (k.id, k.replaced_by) and k.deactivated_at is null;
        delete from stored_turns t where t.project_id = found_key.project_id and t.key_id = found_key.id;
        perform audit(
            'api_key.deleted', found_key.project_id, 'key_' || key_id,
            jsonb_build_object('name', found_key.name, 'prefix', found_key.prefix)
        );
        perform raise_event(
            found_key.project_id, 'api_key.deactivated',
            jsonb_build_object('key_id', 'key_' || key_id, 'name', found_key.name, 'prefix', found_key.prefix)
        );
    end if;
    return found_key.prefix;
end;
$$;

comment on function deactivate_key_with_id(bigint) is 'Deactivates a key, deletes its stored turns and returns its prefix; the key is rejected from the next request on. Idempotent. Requires a member of its project.';

create or replace function restore_key(of_key bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    key api_keys;
begin
    select * into key from api_keys k where k.id = of_key and k.session_id is null;
    if key.id is null then
        raise exception 'API key key_% does not exist', of_key using errcode = 'no_data_found';
    end if;
    perform authorize(key.project_id, 'owner');
    perform require_open_project(key.project_id);
    select * into key from api_keys k where k.id = of_key for no key update;
    if key.deactivated_at is null then
        raise exception 'key % is not deactivated', key.prefix using errcode = 'object_not_in_prerequisite_state';
    end if;
    if key.expires_at <= now() then
        raise exception 'key % has expired: create a new key', key.prefix using errcode = 'object_not_in_prerequisite_state';
    end if;
    if key.replaced_by is not null then
        raise exception 'key % is a former value of another', key.prefix using errcode = 'object_not_in_prerequisite_state';
    end if;
    begin
        update api_keys k set deactivated_at = null where k.id = of_key;
    exception
        when unique_violation then
            raise exception 'the project already has an active key named %', quote_for_message(key.name) using errcode = 'unique_violation';
    end;
    perform audit('api_key.restored', key.project_id, 'key_' || of_key, jsonb_build_object('name', key.name, 'prefix', key.prefix));
end;
$$;

comment on function restore_key(bigint) is
    'Makes a deactivated key valid again, with its value, limits and budgets. Its former values stay deactivated. Raises for a key that has expired, is a former value of another or belongs to an archived project, and where an active key has its name. Requires an owner of its project.';

create or replace function update_key(of_key bigint, changes jsonb) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    key api_keys;
    expires constant timestamptz := (changes ->> 'expires_at')::timestamptz;
    named constant text := changes ->> 'name';
begin
    select * into key from api_keys k where k.id = resolve_rotated_key(of_key) for no key update;
    if key.id is null then
        raise exception 'API key key_% does not exist', of_key using errcode = 'no_data_found';
    end if;
    perform authorize(key.project_id, 'owner');
    if changes ? 'name' then
        perform require_key_name(named);
    end if;
    perform require_future(expires);
    if changes ?| array['name', 'expires_at'] then
        begin
            update api_keys k
            set name = case when changes ? 'name' then named else k.name end,
                expires_at = case when changes ? 'expires_at' then expires else k.expires_at end
            where k.id = key.id;
        exception
            when unique_violation then
                raise exception 'the project already has an active key named %', quote_for_message(named) using errcode = 'unique_violation';
        end;
        perform audit(
            'api_key.updated', key.project_id, 'key_' || key.id,
            jsonb_build_object(
                'name', named, 'was', case when changes ? 'name' then key.name end, 'expires_at', expires,
                'removed', case when changes -> 'expires_at' = 'null' then jsonb_build_array('expires_at') end
            )
        );
    end if;
    if changes - array['name', 'expires_at'] <> '{}' then
        perform set_key_limits(key.id, changes - array['name', 'expires_at']);
    end if;
end;
$$;

comment on function update_key(bigint, jsonb) is
    'Changes a key: its name, expires_at (null: never), and its limits, as set_key_limits() does. An expired key with a later expiry is valid again. The former values of a rotated key keep their expiry. Raises on a name that an active key of the project has. Requires an owner of its project.';

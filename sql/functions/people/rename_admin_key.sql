create or replace function rename_admin_key(key_id bigint, new_name text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    if new_name is null or new_name !~ '^[^[:cntrl:]]{1,100}$' then
        raise exception 'key name % is not valid: 1 to 100 printable characters', quote_for_message(new_name)
            using errcode = 'invalid_parameter_value';
    end if;
    update admin_keys k set name = new_name where k.id = key_id;
    if not found then
        raise exception 'admin key admin_key_% does not exist', key_id using errcode = 'no_data_found';
    end if;
    perform audit('admin_api_key.updated', null, 'admin_key_' || key_id, jsonb_build_object('name', new_name));
end;
$$;

comment on function rename_admin_key(bigint, text) is 'Renames an admin API key. Requires an administrator.';

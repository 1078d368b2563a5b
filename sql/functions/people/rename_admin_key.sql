create or replace function rename_admin_key(key_id bigint, new_name text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    former_name constant text := (select k.name from admin_keys k where k.id = key_id);
begin
    perform require_administrator();
    perform require_key_name(new_name);
    update admin_keys k set name = new_name where k.id = key_id;
    if not found then
        raise exception 'admin key admin_key_% does not exist', key_id using errcode = 'no_data_found';
    end if;
    perform audit('admin_api_key.updated', null, 'admin_key_' || key_id, jsonb_build_object('name', new_name, 'was', former_name));
end;
$$;

comment on function rename_admin_key(bigint, text) is 'Renames an admin API key. Requires an administrator.';

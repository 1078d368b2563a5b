create or replace function delete_admin_key(key_id bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    perform require_administrator();
    if not exists (select from admin_keys k where k.id = key_id) then
        raise exception 'admin key admin_key_% does not exist', key_id using errcode = 'no_data_found';
    end if;
    -- Before the deletion, while the key has a name and audit() can recognize a read-only key that deletes itself.
    perform audit('admin_api_key.deleted', null, 'admin_key_' || key_id, jsonb_build_object('name', find_target_name('admin_key_' || key_id)));
    delete from admin_keys k where k.id = key_id;
end;
$$;

comment on function delete_admin_key(bigint) is 'Deletes an admin API key; the key is rejected from the next request on. Requires an administrator.';

create or replace function delete_admin_key(key_id bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    gone text;
begin
    perform require_administrator();
    -- audit() could no longer recognize a read-only key that deleted itself.
    perform reject_read_only_key();
    delete from admin_keys k where k.id = key_id returning k.name into gone;
    if gone is null then
        raise exception 'admin key admin_key_% does not exist', key_id using errcode = 'no_data_found';
    end if;
    perform audit('admin_api_key.deleted', null, 'admin_key_' || key_id, jsonb_build_object('name', gone));
end;
$$;

comment on function delete_admin_key(bigint) is 'Deletes an admin API key; the key is rejected from the next request on. Requires an administrator.';

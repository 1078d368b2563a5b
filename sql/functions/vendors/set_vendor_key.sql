create or replace function set_vendor_key(vendor text, sealed bytea, last_four text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
begin
    perform require_administrator();
    if not exists (select from vendors v where v.name = vendor) then
        raise exception 'vendor % does not exist; vendors are: %', quote_for_message(vendor), (
            select string_agg(v.name, ', ' order by v.place, v.name) from vendors v
        )
            using errcode = 'no_data_found';
    end if;
    if sealed is null then
        delete from vendor_keys k where k.vendor = set_vendor_key.vendor;
        perform audit('vendor_key.deleted', null, vendor);
        return;
    end if;
    insert into vendor_keys (vendor, sealed, last_four)
    values (vendor, sealed, last_four)
    on conflict on constraint vendor_keys_pkey do update
    set sealed = excluded.sealed,
        last_four = excluded.last_four,
        updated_at = now(),
        version = default;
    perform audit('vendor_key.stored', null, vendor, jsonb_build_object('last_four', last_four));
end;
$$;

comment on function set_vendor_key(text, bytea, text) is 'Stores the key of the installation for a vendor, encrypted by the proxy, in place of an earlier one. Requires an administrator. Raises on an unknown vendor. Null: sealed, last_four (the key is deleted).';

create or replace function remove_vendor(vendor text, with_keys boolean) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
declare
    holders bigint;
    is_shared boolean := exists (select from vendor_keys k where k.vendor = remove_vendor.vendor);
begin
    perform require_administrator();
    perform 1 from vendors v where v.name = vendor for update;
    if not found then
        raise exception 'vendor % does not exist; vendors are: %', quote_for_message(vendor), (
            select string_agg(v.name, ', ' order by v.place, v.name) from vendors v
        )
            using errcode = 'no_data_found';
    end if;
    select count(distinct k.project_id) into holders from provider_keys k where k.provider = vendor;
    if (holders > 0 or is_shared) and with_keys is not true then
        raise exception 'vendor % has keys (of % projects, % of the installation): remove them first, or remove it with its keys',
            quote_for_message(vendor), holders, case when is_shared then 'one' else 'none' end
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform audit(
        'provider_key.deleted', k.project_id, vendor, jsonb_build_object('last_four', k.last_four, 'name', k.name)
    )
    from provider_keys k
    where k.provider = vendor;
    delete from provider_keys k where k.provider = vendor;
    delete from vendors v where v.name = vendor;
end;
$$;

comment on function remove_vendor(text, boolean) is 'Removes a vendor, and with_keys its keys, too; no process uses it after a few seconds. Requires an administrator. Raises on an unknown vendor, and on one with keys unless they are removed, too.';

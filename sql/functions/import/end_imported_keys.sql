create or replace function end_imported_keys(until timestamptz) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    moved integer;
begin
    perform require_administrator();
    delete from service_settings s where s.name = 'imported_keys_until' and until is null;
    insert into service_settings as s (name, value, description)
    select 'imported_keys_until', to_json(until) #>> '{}', 'When keys of other gateways expire, those of later imports included: a time; no row: never.'
    where until is not null
    on conflict (name) do update
    set value = excluded.value
    where s.value <> excluded.value;
    update api_keys k
    set expires_at = least(k.imported_expires_at, until)
    where k.is_imported
        and k.expires_at is distinct from least(k.imported_expires_at, until);
    get diagnostics moved = row_count;
    return moved;
end;
$$;

comment on function end_imported_keys(timestamptz) is 'Sets when imported keys expire, if they do not expire sooner at their former gateway, and returns the number of keys that this changes. A rotated key is no longer an imported one. Requires an administrator. Null: until (never).';

create or replace function has_imported_keys() returns boolean
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select exists (select from api_keys k where k.imported_hash is not null and k.expires_at is null)
        or exists (select from api_keys k where k.imported_hash is not null and k.expires_at > now());
$$;

comment on function has_imported_keys() is 'Whether keys of another gateway were imported that have not expired: keys of any format are then looked up. Both conditions are index probes.';

create or replace function require_key_permission(of_project bigint) returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    key_project constant bigint := current_key_project();
begin
    if exists (
        select
        from admin_keys k
        where k.id = nullif(current_setting('proxy_caller.admin_key_id', true), '')::bigint
            and k.permissions = 'read_only'
    ) then
        raise exception 'this admin key is read-only' using errcode = 'insufficient_privilege';
    end if;
    if key_project is not null and key_project is distinct from of_project then
        raise exception 'this admin key is limited to one project' using errcode = 'insufficient_privilege';
    end if;
end;
$$;

comment on function require_key_permission(bigint) is 'Raises insufficient_privilege when the current user acts through an admin key that is read-only, or limited to another project. Null: of_project (the change concerns no single project).';

create or replace function reject_read_only_key() returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    if exists (
        select
        from admin_keys k
        where k.id = nullif(current_setting('proxy_caller.admin_key_id', true), '')::bigint
            and k.permissions = 'read_only'
    ) then
        raise exception 'this admin key is read-only' using errcode = 'insufficient_privilege';
    end if;
end;
$$;

comment on function reject_read_only_key() is 'Raises insufficient_privilege when the current user acts through a read-only admin key.';

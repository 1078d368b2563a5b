create or replace function installation_id() returns uuid
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    server text := '';
begin
    -- A restored dump and a clone keep the row, so the server and the database are part of the id.
    if has_function_privilege('pg_control_system()', 'execute') then
        select c.system_identifier::text into server from pg_control_system() c;
    end if;
    return (
        select md5(concat_ws(' ', i.id, server, d.oid))::uuid
        from installation i
        join pg_database d on d.datname = current_database()
    );
end;
$$;

comment on function installation_id() is 'Identifies this database among all that may share a Redis with it: the same after a restart or a failover, another for a restored dump or a clone.';

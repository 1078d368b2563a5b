create or replace function is_deploying()
returns boolean
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- pg_locks shows the lower half of an advisory lock's number, unsigned.
    select exists (
        select
        from pg_locks l
        where l.locktype = 'advisory'
            -- One server may have several installations. Locks of other databases do not count.
            and l.database = (select d.oid from pg_database d where d.datname = current_database())
            and l.mode = 'ExclusiveLock'
            and l.granted
            and l.objid::bigint = hashtext('model_proxy migrate')::bigint & 4294967295
    )
    or exists (
        select
        from schema_migrations m
        where m.applied_at > clock_timestamp() - interval '3 seconds'
    );
$$;

comment on function is_deploying() is
    'Whether a proxy is migrating this database, or did so a moment ago: delays are then temporary.';

create or replace function is_deploying()
returns boolean
language sql
volatile
set search_path = public, pg_temp
as $$
    -- An advisory lock's number, as pg_locks has it: its lower half, unsigned.
    select exists (
        select
        from pg_locks l
        where l.locktype = 'advisory'
            and l.mode = 'ExclusiveLock'
            and l.granted
            and l.objid::bigint = hashtext('model-proxy migrate')::bigint & 4294967295
    )
    or exists (
        select
        from schema_migrations m
        where m.applied_at > clock_timestamp() - interval '3 seconds'
    );
$$;

comment on function is_deploying() is
    'Whether a proxy is migrating this database, or has been until a moment ago: what takes long just now will soon not.';

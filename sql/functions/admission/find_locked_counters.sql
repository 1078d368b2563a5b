create or replace function find_locked_counters(key_hashes text[])
returns table (ordinal integer, requests bigint)
language sql
volatile
set search_path = model_proxy, pg_temp
-- Also limits the wait for locks on whole tables, such as those of a deploy.
set lock_timeout = '40ms'
as $$
    with asked as materialized (
        select
            a.ordinal::integer,
            k.project_id,
            k.type as key_type
        from unnest(key_hashes) with ordinality as a (key_hash, ordinal)
        join api_keys k on k.key_hash = decode(a.key_hash, 'hex')
    ),
    -- Waits for no locks, and holds its own only for the duration of this statement.
    free as materialized (
        select c.project_id, c.key_type
        from monthly_counters c
        where c.month = current_month()
            and (c.project_id, c.key_type) in (select asked.project_id, asked.key_type from asked)
        for no key update of c skip locked
    )
    select asked.ordinal, c.requests
    from asked
    join monthly_counters c on c.project_id = asked.project_id and c.key_type = asked.key_type and c.month = current_month()
    where not exists (
        select
        from free
        where free.project_id = asked.project_id
            and free.key_type = asked.key_type
    )
    order by asked.ordinal;
$$;

comment on function find_locked_counters(text[]) is
    'Those of these keys (hex SHA-256), by their positions counted from 1, whose counter another transaction has locked, and its value: if the value changes, the counter is in use, not stuck. Waits for no lock.';

create or replace function list_partitions(parent regclass)
returns table (name text, begins timestamptz, ends timestamptz, estimated_rows bigint)
language sql
stable
set search_path = model_proxy, pg_temp
set timezone = 'UTC'
as $$
    select
        c.relname,
        coalesce(substring(b.bounds from $bound$ FROM \('([^']+)'\)$bound$)::timestamptz, '-infinity'),
        coalesce(substring(b.bounds from $bound$ TO \('([^']+)'\)$bound$)::timestamptz, 'infinity'),
        greatest(0, c.reltuples)::bigint
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join lateral pg_get_expr(c.relpartbound, c.oid) as b (bounds)
    where i.inhparent = parent
    order by 2;
$$;

comment on function list_partitions(regclass) is 'The partitions by time of a table, with the time that each covers and how many rows it had when it was last analyzed.';

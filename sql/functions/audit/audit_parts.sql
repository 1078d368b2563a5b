create or replace function audit_parts(from_time timestamptz default null, until_time timestamptz default null)
returns table (part text, begins timestamptz, ends timestamptz)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    with period as (
        select
            coalesce(from_time, now() - interval '31 days') as begins,
            -- Requests that ended later may not be recorded yet.
            coalesce(until_time, now() - interval '2 minutes') as ends
    )
    select w.part, p.begins, p.ends
    from period p, (values ('quotas'), ('budgets'), ('upkeep')) as w (part)
    union all
    select w.part, greatest(r.begins, p.begins), least(r.ends, p.ends)
    from period p
    join list_partitions('usage_records') r on r.begins < p.ends and r.ends > p.begins
    cross join (values ('records'), ('sums')) as w (part);
$$;

comment on function audit_parts(timestamptz, timestamptz) is
    'The parts of an audit of a period, each of which run_audit_part() reads in one statement. Records and sums are read by partition: partitions are not in memory together, and records past their retention are not expected. Null: from_time (31 days ago), until_time (two minutes ago).';

create or replace function roll_up_usage() returns bigint
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    -- Rows beyond this, for example after a downtime, are left for the next calls: this many fit into memory.
    most constant integer := 50000;
    taken usage_pending[];
begin
    -- One proxy at a time; the others have nothing to do.
    if not pg_try_advisory_xact_lock(hashtext('roll_up_usage')) then
        return 0;
    end if;
    perform set_config('synchronous_commit', 'off', true);

    with gone as (
        delete from usage_pending p
        where p.ctid = any (array(select x.ctid from usage_pending x limit most))
        returning p
    )
    select coalesce(array_agg(gone.p), '{}') into taken from gone;
    if cardinality(taken) = 0 then
        return 0;
    end if;

    perform add_usage_sums(taken, 'hour', 'usage_hourly', 'latency_hourly');
    perform add_usage_sums(taken, 'day', 'usage_daily', 'latency_daily');
    perform add_usage_sums(taken, 'month', 'usage_monthly', 'latency_monthly');
    perform add_usage_totals(taken, 'hour');
    perform add_usage_totals(taken, 'day');
    return cardinality(taken);
end;
$$;

comment on function roll_up_usage() is 'Adds up to 50,000 pending rows to the sums and latency counts, by hour, day and month, and returns how many rows it added. Called every few seconds.';

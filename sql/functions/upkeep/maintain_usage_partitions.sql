create or replace function maintain_usage_partitions() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
set timezone = 'UTC'
as $$
declare
    this_month constant timestamptz := (select date_trunc('month', i.retention_clock_at) from installation i);
    -- The indexes of a larger partition do not stay in memory, and it takes long to vacuum.
    worth_days constant bigint := 5000000;
    months constant integer := coalesce(
        (select greatest(1, s.value::integer) from service_settings s where s.name = 'usage_retention_months'), 13
    );
    content_days constant integer := coalesce(
        (select greatest(1, s.value::integer) from service_settings s where s.name = 'content_retention_days'), 7
    );
    last_month bigint;
    summed regclass;
begin
    -- Two proxies that start at the same time take turns.
    perform pg_advisory_xact_lock(hashtext('model_proxy maintain_usage_partitions'));

    select sum(p.estimated_rows) into last_month from list_partitions('usage_records') p where p.ends > now() - interval '32 days';
    perform maintain_partitions(
        'usage_records',
        case when last_month >= worth_days then 'day' else 'month' end,
        this_month - make_interval(months => months),
        ''
    );
    perform maintain_partitions('request_contents', 'day', date_trunc('day', now()) - make_interval(days => content_days), '');
    foreach summed in array array['usage_by_quarter', 'usage_by_hour', 'latency_by_quarter', 'latency_by_hour']::regclass[] loop
        perform maintain_partitions(summed, 'month', this_month - interval '13 months', 'with (fillfactor = 70)');
    end loop;
    -- Autovacuum also does this, where it runs.
    perform brin_summarize_new_values(i.inhrelid::regclass)
    from pg_inherits i
    where i.inhparent = 'usage_records_ids_idx'::regclass;
end;
$$;

comment on function maintain_usage_partitions() is 'Maintains the partitions of records (a month each; a day each from 5,000,000 rows a month on) for service setting usage_retention_months, by default 13, of contents for content_retention_days, by default 7, and of sums by the quarter and the hour for 13 months; completes the Bloom filters of request ids.';

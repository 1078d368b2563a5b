create or replace function maintain_usage_partitions() returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    retention_months integer := (select greatest(1, s.value::integer) from service_settings s where s.name = 'usage_retention_months');
    month date;
    partition record;
begin
    -- Two proxies that start at once run this one after the other.
    perform pg_advisory_xact_lock(hashtext('maintain_usage_partitions'));

    for ahead in 0..2 loop
        month := (current_month() + make_interval(months => ahead))::date;
        if to_regclass(format('usage_records_%s', to_char(month, 'YYYY_MM'))) is null then
            execute format(
                'create table usage_records_%s partition of usage_records for values from (%L) to (%L)',
                to_char(month, 'YYYY_MM'),
                month::timestamp at time zone 'utc',
                (month + interval '1 month')::timestamp at time zone 'utc'
            );
            execute format(
                'comment on table usage_records_%s is %L',
                to_char(month, 'YYYY_MM'),
                format('Usage records of %s (UTC).', to_char(month, 'YYYY-MM'))
            );
        end if;
    end loop;

    for partition in
        select c.relname
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'usage_records'::regclass
            and c.relname < 'usage_records_' || to_char(current_month() - make_interval(months => coalesce(retention_months, 13)), 'YYYY_MM')
    loop
        execute format('drop table %I', partition.relname);
    end loop;

    perform maintain_content_partitions();
    perform maintain_dashboard();
end;
$$;

comment on function maintain_usage_partitions() is 'Creates the partitions of this month and the next two, and drops those older than service setting usage_retention_months; then calls maintain_content_partitions() and maintain_dashboard().';

-- Sums by the quarter and the hour in partitions of a month each, which are dropped. What is there stays in one, with room for two months.

-- step: locked
lock table latency_by_hour, latency_by_quarter, usage_by_hour, usage_by_quarter in access exclusive mode;

do $$
declare
    partition text;
begin
    foreach partition in array array['latency_by_hour', 'latency_by_quarter', 'usage_by_hour', 'usage_by_quarter'] loop
        execute format(
            'alter table %1$I add constraint %1$s_before check (grain = %2$L and at < %3$L) not valid',
            partition,
            split_part(partition, '_', 3),
            date_trunc('month', now() + interval '93 days', 'UTC')
        );
    end loop;
end $$;

-- step: locked
-- Lets others read and write: they are searched for rows that the next step would have to search for while it keeps everybody out.
lock table latency_by_hour, latency_by_quarter, usage_by_hour, usage_by_quarter in share update exclusive mode;

alter table latency_by_hour validate constraint latency_by_hour_before;
alter table latency_by_quarter validate constraint latency_by_quarter_before;
alter table usage_by_hour validate constraint usage_by_hour_before;
alter table usage_by_quarter validate constraint usage_by_quarter_before;

-- step: locked
lock table latency_counts, usage_sums in access exclusive mode;

do $$
declare
    partition text;
    parent text;
    until timestamptz;
begin
    foreach partition in array array['latency_by_hour', 'latency_by_quarter', 'usage_by_hour', 'usage_by_quarter'] loop
        parent := case when partition like 'usage%' then 'usage_sums' else 'latency_counts' end;
        select substring(pg_get_constraintdef(c.oid) from '''(\d{4}-[^'']+)''')::timestamptz
        into until
        from pg_constraint c
        where c.conname = partition || '_before';
        execute format('alter table %I detach partition %I', parent, partition);
        execute format('alter table %1$I rename to %1$s_before', partition);
        execute format('alter index %1$s_pkey rename to %1$s_before_pkey', partition);
        execute format('alter index %1$s_at_idx rename to %1$s_before_at_idx', partition);
        execute format(
            'create table %I partition of %I for values in (%L) partition by range (at)', partition, parent, split_part(partition, '_', 3)
        );
        execute format('alter table %1$I attach partition %1$s_before for values from (minvalue) to (%2$L)', partition, until);
        execute format('alter table %1$s_before drop constraint %1$s_before', partition);
        execute format('comment on table %1$s_before is %2$L', partition, 'What was there before there was a partition a month.');
    end loop;
end $$;

comment on table usage_by_quarter is 'Sums by the quarter of an hour, in partitions of a month: for time zones and spans that whole hours do not fit.';
comment on table usage_by_hour is 'Sums by the hour, in partitions of a month.';
comment on table latency_by_quarter is 'Counts by the quarter of an hour, in partitions of a month.';
comment on table latency_by_hour is 'Counts by the hour, in partitions of a month.';
comment on table usage_records is 'One row a request that passed admission, in partitions of a month, or of a day where there are many; written in batches off the hot path.';

drop function if exists maintain_dashboard(), maintain_content_partitions() cascade;

-- step: concurrently
create index concurrently usage_tagged_at_idx on model_proxy.usage_tagged using brin (at);

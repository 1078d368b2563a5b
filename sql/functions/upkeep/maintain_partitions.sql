create or replace function maintain_partitions(parent regclass, width text, keep_from timestamptz, storage text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- Months and days are in UTC.
set timezone = 'UTC'
as $$
declare
    step constant interval := '1 ' || width;
    place timestamptz := now();
    covered timestamptz;
    first timestamptz;
    last timestamptz;
    partition text;
    is_over boolean;
    usual_limit constant text := current_setting('lock_timeout');
begin
    -- Other sessions read and write meanwhile. The short timeout avoids waiting behind a long lock, such as a dump's, and blocking others
    -- behind this session.
    perform set_config('lock_timeout', '50ms', true);
    for partition, is_over in
        select p.name, p.ends <= keep_from
        from list_partitions(parent) p
        where p.ends <= keep_from
            -- The partition was created ahead, when partitions were longer.
            or p.begins > now() and p.ends > p.begins + step and p.ends < 'infinity' and p.estimated_rows = 0
        order by p.ends
        -- Files are removed at the end of the transaction. Several days of ten million records each take some seconds.
        limit 4
    loop
        begin
            if not is_over then
                execute format('select not exists (select from %I)', partition) into is_over;
            end if;
            if is_over then
                execute format('drop table %I', partition);
            end if;
        exception
            when lock_not_available then
                raise warning '% is in use and will be dropped later', partition;
        end;
    end loop;
    perform set_config('lock_timeout', usual_limit, true);

    -- Three days ahead: proxies may be stopped that long at the end of a period, and record at once when they start again.
    while place < now() + interval '3 days' loop
        select p.ends into covered from list_partitions(parent) p where p.begins <= place and p.ends > place;
        if covered is null then
            first := date_trunc(width, place);
            select
                greatest(first, max(p.ends) filter (where p.ends <= place)),
                least(first + step, min(p.begins) filter (where p.begins > place))
            into first, last
            from list_partitions(parent) p;
            partition := parent || to_char(
                first, case when width = 'month' and first = date_trunc('month', first) then '_YYYY_MM' else '_YYYY_MM_DD' end
            );
            -- Attaching a table blocks no other statement; creating it as a partition would.
            execute format('create table %I (like %s including all) %s', partition, parent, storage);
            execute format('alter table %s attach partition %I for values from (%L) to (%L)', parent, partition, first, last);
            execute format('comment on table %I is %L', partition, format('From %s to %s.', first, last));
            covered := last;
        end if;
        place := covered;
        covered := null;
    end loop;
end;
$$;

comment on function maintain_partitions(regclass, text, timestamptz, text) is
    'Creates the partitions of a table, a UTC day or month each, up to three days ahead, and drops up to four of those that ended by keep_from; longer ones created ahead are replaced while they are empty. Waits at most 50 ms for a partition that is to be dropped. storage: the clauses after the columns of a new partition.';

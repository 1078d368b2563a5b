create or replace function maintain_content_partitions() returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    retention_days constant integer := coalesce(
        (select greatest(1, s.value::integer) from service_settings s where s.name = 'content_retention_days'), 7
    );
    today constant date := (now() at time zone 'utc')::date;
    partition record;
begin
    for ahead in 0..2 loop
        if to_regclass(format('request_contents_%s', to_char(today + ahead, 'YYYY_MM_DD'))) is null then
            execute format(
                'create table request_contents_%s partition of request_contents for values from (%L) to (%L)',
                to_char(today + ahead, 'YYYY_MM_DD'),
                (today + ahead)::timestamp at time zone 'utc',
                (today + ahead + 1)::timestamp at time zone 'utc'
            );
        end if;
    end loop;

    for partition in
        select c.relname
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'request_contents'::regclass
            and c.relname < 'request_contents_' || to_char(today - retention_days, 'YYYY_MM_DD')
    loop
        execute format('drop table %I', partition.relname);
    end loop;
end;
$$;

comment on function maintain_content_partitions() is 'Creates the partitions of today and the next two days (UTC), and drops those older than service setting content_retention_days, by default 7.';

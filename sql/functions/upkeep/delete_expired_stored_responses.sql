create or replace function delete_expired_stored_responses(max_rows integer) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    believed constant timestamptz := (select i.retention_clock_at from installation i);
    due record;
    deleted integer := 0;
begin
    -- One project at a time, as in delete_expired_entries().
    for due in
        select k.project_id, array_agg(k.id) as ids
        from (
            select r.project_id, r.id
            from stored_responses r
            where r.expires_at <= believed
            order by r.expires_at
            limit max_rows
        ) k
        group by k.project_id
        order by k.project_id
    loop
        with gone as (
            delete from stored_responses r
            where r.project_id = due.project_id
                and r.id = any (array(
                    select x.id
                    from stored_responses x
                    where x.project_id = due.project_id
                        and x.id = any (due.ids)
                        and x.expires_at <= believed
                    for update skip locked
                ))
                and r.expires_at <= believed
            returning 1
        )
        select deleted + count(*) into deleted from gone;
    end loop;
    return deleted;
end;
$$;

comment on function delete_expired_stored_responses(integer) is 'Deletes expired stored responses. Returns their number.';

create or replace function delete_superseded_records(reserved_as uuid[]) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with withdrawn as (
        delete from usage_records u
        using (
            select distinct r.project_id, r.request_id, r.doubtful_at
            from budget_reservations r
            where r.id = any (reserved_as)
                and r.doubtful_at is not null
        ) g
        where u.project_id = g.project_id
            and u.recorded_at = g.doubtful_at
            and u.request_id = g.request_id
            and u.cost_estimated = 'proxy_stopped'
        returning u.*
    )
    insert into usage_pending
    select p.*
    from withdrawn w
    cross join lateral pending_sums(row(w.*)::usage_records, -1) p;
$$;

comment on function delete_superseded_records(uuid[]) is
    'Deletes the records that expire_reservations() wrote for requests whose process seemed to have ended: their own records replace them.';

create or replace function doubtful_reservations(of_project bigint, of_request text, recorded timestamptz) returns setof budget_reservations
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select r.*
    from budget_reservations r
    where r.project_id = of_project
        and r.request_id = of_request
        and r.doubtful_at >= recorded
        -- Another request may have the same id.
        and r.reserved_at <= recorded;
$$;

comment on function doubtful_reservations(bigint, text, timestamptz) is 'The doubtful reservations of the request of this record.';

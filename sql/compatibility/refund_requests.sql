create or replace function refund_requests(project_ids bigint[], key_types text[], months date[], counts integer[])
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    select refund_requests(project_ids, key_types, months, counts, gen_random_uuid());
$$;

comment on function refund_requests(bigint[], text[], date[], integer[]) is 'As the previous release calls it.';

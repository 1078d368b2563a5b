create or replace function forget_batches() returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select delete_outdated(10000);
$$;

comment on function forget_batches() is 'For the previous release, which calls it every hour: see delete_outdated().';

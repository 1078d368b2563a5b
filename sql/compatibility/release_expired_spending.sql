create or replace function release_expired_spending() returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select presume_expired_spending();
$$;

comment on function release_expired_spending() is 'As the release before calls presume_expired_spending().';

create or replace function release_expired_spending() returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    select settle_spending(json_agg(json_build_object('id', r.id, 'usd', 0, 'tokens', 0)))
    from (select distinct r.id from budget_reservations r where r.expires_at < now() limit 1000) r
    having count(*) > 0;
$$;

comment on function release_expired_spending() is 'Releases what processes reserved that are gone. What their requests cost is not known.';

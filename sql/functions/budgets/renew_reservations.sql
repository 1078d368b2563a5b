create or replace function renew_reservations(ids uuid[]) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    update budget_reservations r
    set expires_at = now() + interval '5 minutes'
    where r.id = any (ids)
        and r.expires_at < 'infinity';
$$;

comment on function renew_reservations(uuid[]) is 'Renews the reservations of requests in flight. Each process calls it every minute.';

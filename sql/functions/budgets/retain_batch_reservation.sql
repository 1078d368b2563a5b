create or replace function retain_batch_reservation(reserved_as uuid, of_project bigint, batch_id text) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    update budget_reservations r
    set id = md5(of_project || ' ' || batch_id)::uuid,
        expires_at = 'infinity'
    where r.id = reserved_as;
$$;

comment on function retain_batch_reservation(uuid, bigint, text) is 'Keeps the reservation of a batch until the batch ends, under an id derived from the batch''s id.';

create or replace function finish_idempotent_request(of_caller text, of_key_hash text, of_attempt uuid, of_target text, sealed bytea) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    update idempotent_requests r
    set finished_at = now(), target = of_target, response = sealed
    where r.caller = of_caller and r.key_hash = decode(of_key_hash, 'hex') and r.attempt = of_attempt;
$$;

comment on function finish_idempotent_request(text, text, uuid, text, bytea) is
    'Stores the encrypted response of the request that made a change under an idempotency key. Null: of_target (none), sealed (it cannot be encrypted).';

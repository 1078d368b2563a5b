create or replace function find_idempotent_request(of_caller text, of_key_hash text) returns table (
    request_hash text,
    finished boolean,
    seconds integer,
    target text,
    response bytea
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select encode(r.request_hash, 'hex'), r.finished_at is not null, extract(epoch from now() - r.started_at)::integer, r.target, r.response
    from idempotent_requests r
    where r.caller = of_caller and r.key_hash = decode(of_key_hash, 'hex') and r.started_at > now() - interval '1 day';
$$;

comment on function find_idempotent_request(text, text) is
    'Returns the change of the last day under an idempotency key: the hash of its request, whether its response is known, its age, and its encrypted response. Null: target (unknown), response (not stored).';

create or replace function claim_idempotency_key(request json) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    -- A concurrent request with the key waits here until this transaction ends.
    insert into idempotent_requests as r (caller, key_hash, request_hash, attempt)
    values (
        request ->> 'caller', decode(request ->> 'key_hash', 'hex'), decode(request ->> 'request_hash', 'hex'),
        (request ->> 'attempt')::uuid
    )
    on conflict (caller, key_hash) do update
    set request_hash = excluded.request_hash,
        attempt = excluded.attempt,
        started_at = now(),
        finished_at = null,
        target = null,
        response = null
    where r.attempt = excluded.attempt or r.started_at <= now() - interval '1 day';
    if not found then
        raise exception 'another request has this idempotency key' using errcode = 'PX001';
    end if;
end;
$$;

comment on function claim_idempotency_key(json) is
    'Records the change of this transaction under the idempotency key of its request {caller, key_hash, request_hash, attempt}. Raises PX001 if another request of the last day has made a change under that key.';

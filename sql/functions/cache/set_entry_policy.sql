create or replace function set_entry_policy(of_project bigint, of_request text, with_policy text, response_hash text) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- Checks the hash, because another response may have replaced it since.
    update cache_entries e
    set policy = with_policy
    where e.project_id = of_project
        and e.request_hash = decode(of_request, 'hex')
        and sha256(convert_to(e.response, 'utf8')) = decode(response_hash, 'hex');
$$;

comment on function set_entry_policy(bigint, text, text, text) is
    'Records the version of the hook''s rules under which a cache entry was accepted. The entry is given by the hex hashes of its request and response: a response that has replaced it is not changed. Null: with_policy (no hook has checked it).';

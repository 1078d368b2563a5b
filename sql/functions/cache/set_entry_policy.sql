create or replace function set_entry_policy(of_project bigint, of_request text, with_policy text, response_hash text) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- Another response may have replaced it since.
    update cache_entries e
    set policy = with_policy
    where e.project_id = of_project
        and e.request_hash = decode(of_request, 'hex')
        and sha256(convert_to(e.response, 'utf8')) = decode(response_hash, 'hex');
$$;

comment on function set_entry_policy(bigint, text, text, text) is
    'Notes the version of the hook''s rules under which a cache entry has passed. It takes hex hashes, of the request and of the response that passed: a response that has taken its place is not meant. Null: with_policy (no hook was heard).';

create or replace function record_contents(
    recorded_ats timestamptz[],
    project_ids bigint[],
    key_ids bigint[],
    request_ids text[],
    sealed_requests text[],
    sealed_responses text[]
)
returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into request_contents (recorded_at, project_id, key_id, request_id, sealed_request, sealed_response)
    select c.recorded_at, c.project_id, c.key_id, c.request_id, decode(c.request, 'hex'), decode(c.response, 'hex')
    from unnest(recorded_ats, project_ids, key_ids, request_ids, sealed_requests, sealed_responses)
        as c (recorded_at, project_id, key_id, request_id, request, response)
    join api_keys k on k.id = c.key_id
    join projects p on p.id = c.project_id
    -- What was sealed before the setting was turned off is dropped.
    where coalesce(k.log_content, p.log_content) = 'sealed';
$$;

comment on function record_contents(timestamptz[], bigint[], bigint[], text[], text[], text[]) is 'Keeps what requests said and got, sealed and in hex, with one item per request in each list.';

create or replace function record_request_contents(contents json) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    insert into request_contents
    select c.*
    from json_populate_recordset(null::request_contents, contents) c
    join api_keys k on k.id = c.key_id
    join projects p on p.id = c.project_id
    -- Omits contents that were sealed before the setting was turned off.
    where coalesce(k.log_content, p.log_content) = 'sealed';
$$;

comment on function record_request_contents(json) is 'Stores the sealed contents of requests and their responses: objects with the columns of request_contents.';

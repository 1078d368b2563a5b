create or replace function delete_response_entries(of_project bigint, response_id text) returns table (request_hash text)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    known bigint[];
begin
    -- Searches the text first, because most responses do not contain the id at all.
    known := array(
        select e.id
        from cache_entries e
        where e.project_id = of_project
            and e.endpoint = 'responses'
            and (
                e.response_id = delete_response_entries.response_id
                -- Sealed responses are not JSON, and have no readable id.
                or case when strpos(e.response, delete_response_entries.response_id) > 0 then e.response::json ->> 'id' end
                    = delete_response_entries.response_id
            )
    );
    return query
        select encode(e.request_hash, 'hex')
        from cache_entries e
        where e.id = any (known);
    delete from cache_entries e where e.id = any (known);
end;
$$;

comment on function delete_response_entries(bigint, text) is 'Deletes the cache entries with the id of a response that was deleted at its provider, and returns the hex hashes of their requests.';

create or replace function delete_stored_response(of_project bigint, of_key bigint, response_id text) returns boolean
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    delete from stored_responses k
    where k.project_id = of_project
        and k.key_id = of_key
        and k.id = response_id;
    return found;
end;
$$;

comment on function delete_stored_response(bigint, bigint, text) is 'Deletes a stored response. Returns whether it existed.';

create or replace function complete_stored_response(of_project bigint, of_key bigint, response_id text, response text, item_ids text[])
returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    update stored_responses k
    set response = complete_stored_response.response,
        item_ids = complete_stored_response.item_ids,
        unfinished = false
    where k.project_id = of_project
        and k.key_id = of_key
        and k.id = response_id
        and k.unfinished;
$$;

comment on function complete_stored_response(bigint, bigint, text, text, text[]) is 'Replaces a response that was stored when its provider started to generate it with the complete response.';

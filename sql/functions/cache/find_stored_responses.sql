create or replace function find_stored_responses(of_project bigint, of_key bigint, response_ids text[])
returns table (id text, previous_id text, input text, response text, unfinished boolean)
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select k.id, k.previous_id, k.input, k.response, k.unfinished
    from stored_responses k
    where k.project_id = of_project
        and k.key_id = of_key
        and k.id = any (response_ids)
        and k.expires_at > now();
end;
$$;

comment on function find_stored_responses(bigint, bigint, text[]) is 'Finds the stored responses of the key with these ids. Null: previous_id (it began a conversation), input (it was too long to be stored).';

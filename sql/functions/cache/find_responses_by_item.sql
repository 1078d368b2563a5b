create or replace function find_responses_by_item(of_project bigint, of_key bigint, names text[])
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
        and k.item_ids <> '{}'
        and k.item_ids && names
        and k.expires_at > now()
    order by k.expires_at;
end;
$$;

comment on function find_responses_by_item(bigint, bigint, text[]) is 'Finds stored responses of the key that have items with one of these ids, the latest last. Null: previous_id (it began a conversation), input (it was too long to be stored).';

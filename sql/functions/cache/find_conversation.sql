create or replace function find_conversation(of_project bigint, of_key bigint, response_id text)
returns table (id text, previous_id text, input text, response text, unfinished boolean)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    with recursive turns as (
        select k.id, k.previous_id, k.input, k.response, k.unfinished, array[k.id] as later
        from find_stored_responses(of_project, of_key, array[response_id]) k
        union all
        select k.id, k.previous_id, k.input, k.response, k.unfinished, t.later || k.id
        from turns t
        cross join lateral find_stored_responses(of_project, of_key, array[t.previous_id]) k
        -- Ids come from a provider. A repeated id must not cause an endless loop.
        where k.id <> all (t.later)
    )
    select t.id, t.previous_id, t.input, t.response, t.unfinished
    from turns t
    order by cardinality(t.later) desc;
$$;

comment on function find_conversation(bigint, bigint, text) is 'A stored response and its predecessors, the first one first. The conversation is incomplete if the first one continued another. Null: previous_id (it began a conversation), input (it was too long to be stored).';

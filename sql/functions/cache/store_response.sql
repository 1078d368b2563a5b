create or replace function store_response(
    of_project bigint,
    of_key bigint,
    response_id text,
    continued_id text,
    own_input text,
    response text,
    of_user text default null,
    item_ids text[] default '{}',
    unfinished boolean default false
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    -- Computed beforehand, because Citus allows no function of time in the condition of an upsert.
    renewed_before constant timestamptz := now() + interval '6 days';
begin
    insert into stored_responses as k (project_id, key_id, id, previous_id, input, response, expires_at, end_user, item_ids, unfinished)
    values (
        of_project, of_key, response_id, continued_id, own_input, store_response.response, now() + interval '7 days', of_user,
        store_response.item_ids, store_response.unfinished
    )
    on conflict (project_id, key_id, id) do update
    set previous_id = excluded.previous_id,
        input = excluded.input,
        response = excluded.response,
        expires_at = excluded.expires_at,
        end_user = excluded.end_user,
        item_ids = excluded.item_ids,
        unfinished = excluded.unfinished
    -- A repeated hit is written at most once a day.
    where k.input is distinct from excluded.input
        or k.unfinished
        or k.previous_id is distinct from excluded.previous_id
        or k.expires_at < renewed_before;
end;
$$;

comment on function store_response(bigint, bigint, text, text, text, text, text, text[], boolean) is 'Stores a response for a week, so that requests of the same key can continue it by its id or by item_ids, the ids of its items that its provider created. Null: continued_id (it began a conversation), own_input (it is too long).';

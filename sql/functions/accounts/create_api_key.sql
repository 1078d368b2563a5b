create or replace function create_api_key(project text, key_type text, key_name text, expires timestamptz, budget jsonb default null) returns table (
    id bigint,
    value text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    value := issue_key(project, key_type, key_name, expires);
    id := find_key_id(value);
    if budget is not null then
        perform set_budget(project, budget ->> 'unit', (budget ->> 'amount')::numeric, budget ->> 'per', id);
    end if;
    return next;
end;
$$;

comment on function create_api_key(text, text, text, timestamptz, jsonb) is 'As issue_key(), with the id of the key, and with a budget of it {unit, amount, per} as set_budget() sets it, which requires an owner. Null: expires (never), budget (none).';

-- For the release before usage was told apart by the type of key.
create or replace function usage_shares(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    share_by text,
    of_model text,
    of_key bigint
)
returns table (
    name text,
    requests bigint,
    hits bigint,
    failed bigint,
    tokens bigint,
    cost_usd numeric,
    saved_usd numeric
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select * from usage_shares(of_projects, from_time, until_time, share_by, of_model, of_key, null);
$$;

comment on function usage_shares(bigint[], timestamptz, timestamptz, text, text, bigint) is 'As usage_shares() with the type of key, of all types.';

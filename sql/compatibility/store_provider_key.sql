-- For the release before keys had names.
create or replace function store_provider_key(owner_id bigint, provider text, sealed bytea, last_four text) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select store_provider_key(owner_id, provider, sealed, last_four, 'default', null);
$$;

comment on function store_provider_key(bigint, text, bytea, text) is 'As store_provider_key(bigint, text, bytea, text, text, integer), for the key named default.';

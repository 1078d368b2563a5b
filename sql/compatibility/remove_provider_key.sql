-- For the release before keys had names.
create or replace function remove_provider_key(project text, provider text) returns text
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select remove_provider_key(project, provider, 'default');
$$;

comment on function remove_provider_key(text, text) is 'As remove_provider_key(text, text, text), for the key named default.';

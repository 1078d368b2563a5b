-- For the release before keys had names.
create or replace function list_provider_keys(project text)
returns table (provider text, last_four text, created text, updated text)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select k.provider, k.last_four, k.created, k.updated from list_provider_keys(project, null) k;
$$;

comment on function list_provider_keys(text) is 'As list_provider_keys(text, text), for all providers, without names and weights.';

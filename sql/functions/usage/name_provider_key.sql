create or replace function name_provider_key(provider text, provider_keys text) returns text
language sql
immutable
parallel safe
as $$
    select nullif(provider, '') || coalesce(': ' || regexp_replace(provider_keys, '^.*, | [0-9]{3}$', '', 'g'), '');
$$;

comment on function name_provider_key(text, text) is
    'The provider key that a record''s response comes from: the provider and, if the project has several keys for it, the last key that was called, without the status of a rejected one. Null: provider (none was reached), provider_keys (there is one key), result (there is no provider).';

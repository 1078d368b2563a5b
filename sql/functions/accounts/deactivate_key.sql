create or replace function deactivate_key(key_or_prefix text) returns text
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    select deactivate_key_with_id(find_key(key_or_prefix));
$$;

comment on function deactivate_key(text) is 'Deactivates the one key that is given whole or by its displayed prefix, and returns the prefix; the key is rejected from the next request on. Idempotent. Raises when no key or several match.';

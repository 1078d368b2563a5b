create or replace function current_user_id() returns bigint
language sql
stable
parallel safe
-- A search_path setting would prevent inlining.
as $$
    select nullif(current_setting('proxy_caller.user_id', true), '')::bigint;
$$;

comment on function current_user_id() is 'The user on whose behalf run_as_actor() runs a statement; null for an operator with psql and for the proxy itself.';

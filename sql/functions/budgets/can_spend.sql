create or replace function can_spend(key api_keys) returns boolean
language sql
stable
-- No search path of its own, because PostgreSQL could not inline the function then.
as $$
    select key.type = 'project'
        -- Neither a former value of a key, nor one of a session at the dashboard.
        and key.replaced_by is null
        and key.session_id is null
        and key.deactivated_at is null
        and (key.expires_at is null or key.expires_at > now());
$$;

comment on function can_spend(api_keys) is 'Whether requests with this key may cost money now: it is active, and no test key.';

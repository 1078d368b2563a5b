create or replace function can_spend(key api_keys) returns boolean
language sql
stable
-- A search_path setting would prevent inlining.
as $$
    select key.type = 'project'
        -- Excludes former values of keys, and keys of dashboard sessions.
        and key.replaced_by is null
        and key.session_id is null
        and key.deactivated_at is null
        and (key.expires_at is null or key.expires_at > now());
$$;

comment on function can_spend(api_keys) is 'Whether requests with this key may cost money now: the key is active, and not a test key.';

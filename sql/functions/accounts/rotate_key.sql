create or replace function rotate_key(of_key bigint, grace interval default interval '0') returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    old_key api_keys;
    secret text;
begin
    select * into old_key from api_keys k where k.id = of_key;
    if old_key.id is null then
        raise exception 'API key key_% does not exist', of_key using errcode = 'no_data_found';
    end if;
    perform authorize(old_key.project_id, 'member');
    perform require_open_project(old_key.project_id);
    select * into old_key from api_keys k where k.id = of_key for update;
    if old_key.deactivated_at is not null or old_key.expires_at <= now() or old_key.replaced_by is not null then
        raise exception 'key % is not active, or a former value of another', old_key.prefix using errcode = 'object_not_in_prerequisite_state';
    end if;
    if grace is null or grace < interval '0' or grace > interval '90 days' then
        raise exception 'grace is not valid: use 0 to 7776000 seconds (90 days)' using errcode = 'invalid_parameter_value';
    end if;

    secret := generate_secret('lgw_' || case old_key.type when 'test' then 'test' else 'proj' end || '_');
    update api_keys k
    set key_hash = sha256(convert_to(secret, 'UTF8')),
        prefix = left(secret, 17),
        -- The end of imported keys does not apply to a key that is issued here.
        expires_at = case when old_key.is_imported then old_key.imported_expires_at else old_key.expires_at end
    where k.id = of_key;
    -- The former value is a separate row, which expires and can be deactivated separately.
    if grace > interval '0' then
        insert into api_keys (
            project_id, key_hash, prefix, type, name, expires_at, log_content, requests_per_minute, tokens_per_minute, allowed_models,
            allowed_addresses, replaced_by
        )
        values (
            old_key.project_id, old_key.key_hash, old_key.prefix, old_key.type,
            left(old_key.name, 70) || ' (' || old_key.prefix || ')',
            least(old_key.expires_at, now() + grace), old_key.log_content, old_key.requests_per_minute, old_key.tokens_per_minute,
            old_key.allowed_models, old_key.allowed_addresses, of_key
        );
    end if;
    perform audit(
        'api_key.rotated', old_key.project_id, 'key_' || of_key,
        jsonb_build_object('name', old_key.name, 'prefix', left(secret, 17), 'former_prefix', old_key.prefix, 'grace', grace::text)
    );
    return secret;
end;
$$;

comment on function rotate_key(bigint, interval) is
    'Gives a key another value and returns it: it is not shown again. The key keeps its id, name, budgets and counters; its former value is accepted for the grace period, and counts as the key. Requires a member of its project.';

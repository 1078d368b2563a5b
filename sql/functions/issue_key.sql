create or replace function issue_key(project text, key_type text, key_name text, expires timestamptz default null) returns text
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    owner_id bigint := find_project(project);
    secret text;
begin
    if key_type is null or key_type not in ('project', 'test') then
        raise exception 'key type % does not exist; types are: project, test', quote_for_message(key_type)
            using errcode = 'invalid_parameter_value';
    end if;
    if key_name is null or key_name !~ '^[^[:cntrl:]]{1,100}$' then
        raise exception 'key name % is not valid: 1 to 100 printable characters', quote_for_message(key_name)
            using errcode = 'invalid_parameter_value';
    end if;
    if expires <= now() then
        raise exception 'expiry % is in the past', to_char(expires at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            using errcode = 'invalid_parameter_value';
    end if;
    -- Two random UUIDs carry 244 bits from the system's own source; hashed, so that their fixed bits do not show. 32 digits hold 190 bits.
    secret := 'lgw_' || case key_type when 'test' then 'test' else 'proj' end || '_'
        || encode_base62(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 32);
    insert into api_keys (project_id, key_hash, prefix, type, name, expires_at)
    values (owner_id, sha256(convert_to(secret, 'UTF8')), left(secret, 17), key_type, key_name, expires)
    on conflict (project_id, name) where deactivated_at is null do nothing;
    if not found then
        raise exception 'project % already has an active key named %', quote_for_message(project), quote_for_message(key_name)
            using errcode = 'unique_violation';
    end if;
    return secret;
end;
$$;

comment on function issue_key(text, text, text, timestamptz) is 'Makes a key (type project or test) and returns it: the only time it is seen. Raises on an unknown project or type and on a name that an active key of the project has.';

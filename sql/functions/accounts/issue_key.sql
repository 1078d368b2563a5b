create or replace function issue_key(project text, key_type text, key_name text, expires timestamptz default null) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'member');
    secret text;
    issued bigint;
begin
    perform require_choice(key_type, array['project', 'test'], 'key type', 'types');
    perform require_key_name(key_name);
    perform require_future(expires);
    perform require_open_project(owner_id);
    secret := generate_secret('lgw_' || case key_type when 'test' then 'test' else 'proj' end || '_');
    insert into api_keys (project_id, key_hash, prefix, type, name, expires_at)
    values (owner_id, sha256(convert_to(secret, 'UTF8')), left(secret, 17), key_type, key_name, expires)
    on conflict (project_id, name) where deactivated_at is null do nothing
    returning id into issued;
    if issued is null then
        raise exception 'project % already has an active key named %', quote_for_message(project), quote_for_message(key_name)
            using errcode = 'unique_violation';
    end if;
    perform audit(
        'api_key.created', owner_id, 'key_' || issued,
        jsonb_build_object('name', key_name, 'type', key_type, 'prefix', left(secret, 17), 'expires_at', expires)
    );
    perform raise_event(
        owner_id, 'api_key.created',
        jsonb_build_object('key_id', 'key_' || issued, 'name', key_name, 'type', key_type, 'prefix', left(secret, 17), 'expires_at', expires)
    );
    return secret;
end;
$$;

comment on function issue_key(text, text, text, timestamptz) is 'Creates and returns a key (type project or test). It is not shown again. Raises on an unknown project or type, and on a name that an active key of the project has.';

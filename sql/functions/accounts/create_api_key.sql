create or replace function create_api_key(
    project text,
    key_type text,
    key_name text,
    expires timestamptz default null,
    budget jsonb default null
)
returns table (
    id bigint,
    value text
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'member');
    described jsonb;
begin
    perform require_choice(key_type, array['project', 'test'], 'key type', 'types');
    perform require_key_name(key_name);
    perform require_future(expires);
    perform require_open_project(owner_id);
    value := generate_secret('lgw_' || case key_type when 'test' then 'test' else 'proj' end || '_');
    insert into api_keys as k (project_id, key_hash, prefix, type, name, expires_at)
    values (owner_id, sha256(convert_to(value, 'UTF8')), left(value, 17), key_type, key_name, expires)
    on conflict (project_id, name) where deactivated_at is null do nothing
    returning k.id into id;
    if id is null then
        raise exception 'project % already has an active key named %', quote_for_message(project), quote_for_message(key_name)
            using errcode = 'unique_violation';
    end if;
    described := jsonb_build_object('name', key_name, 'type', key_type, 'prefix', left(value, 17), 'expires_at', expires);
    perform audit('api_key.created', owner_id, 'key_' || id, described);
    perform raise_event(owner_id, 'api_key.created', described || jsonb_build_object('key_id', 'key_' || id));
    if budget is not null then
        perform set_budget(project, budget ->> 'unit', (budget ->> 'amount')::numeric, budget ->> 'per', id);
    end if;
    return next;
end;
$$;

comment on function create_api_key(text, text, text, timestamptz, jsonb) is
    'Creates a key (type project or test), with a budget of it {unit, amount, per} as set_budget() sets it, which requires an owner. The value is not shown again. Raises on an unknown project or type, and on a name that an active key of the project has. Null: expires (never), budget (none).';

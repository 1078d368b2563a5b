create or replace function find_leaked_keys(hash text, key_prefix text) returns setof leaked_key
language sql
stable
-- The dashboard's role may not read hashes of keys; this function filters the rows itself.
security definer
set search_path = model_proxy, pg_temp
as $$
    with matching as (
        select
            'key_' || k.id as id, 'api_key' as kind, p.id as project_id, p.name as project_name, k.name, k.redacted_value,
            k.key_hash = decode(hash, 'hex') as is_whole_key, k.deactivated_at, k.created_at, k.last_used_at, k.expires_at
        from api_keys k
        join projects p on p.id = k.project_id
        where (k.key_hash = decode(hash, 'hex') or k.prefix = key_prefix)
            and (current_user_id() is null or k.project_id in (select visible_projects()))
        union all
        select
            'admin_key_' || k.id, 'admin_api_key', p.id, p.name, k.name, k.prefix || '…', k.key_hash = decode(hash, 'hex'), null::timestamptz,
            k.created_at, k.last_used_at, k.expires_at
        from admin_keys k
        left join projects p on p.id = k.scope_project_id
        where (k.key_hash = decode(hash, 'hex') or k.prefix = key_prefix)
            and (current_user_id() is null or is_administrator())
    )
    select
        m.id, m.kind, 'proj_' || m.project_id, m.project_name, m.name, m.redacted_value,
        case when m.deactivated_at is not null then 'deactivated' when m.expires_at <= now() then 'expired' else 'active' end::key_status,
        m.is_whole_key, to_unix_seconds(m.created_at), to_unix_seconds(m.last_used_at), to_unix_seconds(m.expires_at)
    from matching m
    where m.is_whole_key or not exists (select from matching w where w.is_whole_key)
    order by m.created_at desc, m.id
    limit 20;
$$;

comment on function find_leaked_keys(text, text) is
    'The key with that hex SHA-256 or, if there is none, the keys whose displayed prefix is that: API keys of projects that the current user may see and, for an administrator, admin keys.';

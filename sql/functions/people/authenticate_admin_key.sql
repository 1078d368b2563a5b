create or replace function authenticate_admin_key(hash text) returns table (
    admin_key_id bigint,
    user_id bigint,
    email text,
    role user_role,
    permissions admin_key_permissions,
    project_id bigint
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    update admin_keys k
    set last_used_at = now()
    where k.key_hash = decode(hash, 'hex')
        and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute');
    return query
    select k.id, u.id, u.email, u.role::user_role, k.permissions::admin_key_permissions, k.scope_project_id
    from admin_keys k
    join users u on u.id = k.user_id
    where k.key_hash = decode(hash, 'hex')
        and (k.expires_at is null or k.expires_at > now());
end;
$$;

comment on function authenticate_admin_key(text) is 'The administrator for whom an admin API key (hex SHA-256) acts, its permissions, and the only project in which it may act; no row when the key is unknown or has expired. Null: project_id (all).';

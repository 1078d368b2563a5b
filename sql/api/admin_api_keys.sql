create or replace view admin_api_keys with (security_invoker = true) as
select
    k.id as _id,
    k.name as _name,
    'admin_key_' || k.id as id,
    k.name,
    k.prefix || '…' as redacted_value,
    k.permissions::admin_key_permissions as permissions,
    to_unix_seconds(k.created_at) as created_at,
    to_unix_seconds(k.expires_at) as expires_at,
    to_unix_seconds(k.last_used_at) as last_used_at,
    row('user', 'organization.user', 'user_' || u.id, u.email, to_unix_seconds(k.created_at), u.role)::admin_api_key_owner as owner,
    'proj_' || k.scope_project_id as project_id
from admin_keys k
join users u on u.id = k.user_id;

comment on view admin_api_keys is 'Keys of the admin API.';
comment on column admin_api_keys.expires_at is 'Null: never.';
comment on column admin_api_keys.last_used_at is 'Null: never.';
comment on column admin_api_keys.project_id is 'The only project in which the key may act. Null: all.';
comment on column admin_api_keys.owner is 'The user whose rights the key has.';

create or replace view project_api_keys with (security_invoker = true) as
select
    k.id as _id,
    k.project_id as _project_id,
    k.name as _name,
    k.deactivated_at is not null as _inactive,
    k.session_id is not null as _of_session,
    'key_' || k.id as id,
    k.name,
    k.redacted_value,
    to_unix_seconds(k.created_at) as created_at,
    to_unix_seconds(k.last_used_at) as last_used_at,
    to_unix_seconds(k.expires_at) as expires_at,
    row('service_account', row('svc_acct_' || k.id, to_unix_seconds(k.created_at), k.name, 'member')::service_account)::api_key_owner as owner,
    case when s.state = 'active' then 'active' else 'inactive' end::access as owner_project_access,
    k.type::key_type as type,
    s.state::key_status as state,
    to_unix_seconds(k.deactivated_at) as deactivated_at,
    k.requests_per_minute::natural_number as requests_per_minute,
    k.tokens_per_minute::natural_number as tokens_per_minute,
    k.allowed_models,
    k.allowed_addresses::text[] as allowed_addresses,
    k.is_imported as imported,
    'key_' || k.replaced_by as former_value_of,
    case
        when k.allowed_models is null then '{}'
        else model_name_warnings(
            k.project_id,
            k.allowed_models,
            array(select split_part(a.written, '=', 1) from projects p cross join unnest(p.aliases) as a (written) where p.id = k.project_id)
        )
    end as warnings
from api_keys k
cross join lateral (
    select case when k.deactivated_at is not null then 'deactivated' when k.expires_at <= now() then 'expired' else 'active' end as state
) s;

comment on view project_api_keys is 'Keys of projects, as the admin API shows them.';
comment on column project_api_keys.last_used_at is 'Null: never.';
comment on column project_api_keys.expires_at is 'Null: never.';
comment on column project_api_keys.owner is 'A key belongs to the project, not to a user.';
comment on column project_api_keys.deactivated_at is 'Null: it was not.';
comment on column project_api_keys.requests_per_minute is 'The key''s own limit. Null: its plan''s.';
comment on column project_api_keys.tokens_per_minute is 'The key''s own limit. Null: its plan''s.';
comment on column project_api_keys.allowed_models is 'Null: all that the project may use.';
comment on column project_api_keys.allowed_addresses is 'Null: any.';
comment on column project_api_keys.imported is 'Whether its value was issued by another gateway.';
comment on column project_api_keys.former_value_of is 'For a former value of a rotated key: the key that it stands for. Null: it is a key itself.';
comment on column project_api_keys.owner_project_access is 'Whether the key is valid.';
comment on column project_api_keys.state is 'expired: its time has passed; deactivated: a user deactivated it.';
comment on column project_api_keys.warnings is 'Names in allowed_models that nothing has matched.';

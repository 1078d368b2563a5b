create or replace view project_service_accounts with (security_invoker = true) as
select
    k.id as _id,
    k.project_id as _project_id,
    k.name as _name,
    k.session_id is not null as _of_session,
    'svc_acct_' || k.id as id,
    k.name,
    'member' as role,
    to_unix_seconds(k.created_at) as created_at
from api_keys k
where k.deactivated_at is null;

comment on view project_service_accounts is 'An API key in the form of OpenAI''s service account.';
comment on column project_service_accounts.role is 'A service account is a member.';

create or replace view project_model_permissions with (security_invoker = true) as
select
    p.id as _id,
    p.id as _project_id,
    case when p.allowed_models = '{}' then 'deny_list' else 'allow_list' end::model_permissions_mode as mode,
    p.allowed_models as model_ids
from projects p;

comment on view project_model_permissions is 'The setting allowed_models; an empty deny_list if all models are allowed.';
comment on column project_model_permissions.mode is 'Whether the models are those that are allowed, or those that are denied.';
comment on column project_model_permissions.model_ids is 'Their names, or patterns of names; of an empty deny_list, all are allowed.';

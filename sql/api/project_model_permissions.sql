create or replace view project_model_permissions with (security_invoker = true) as
select
    p.id as _id,
    p.id as _project_id,
    case when p.allowed_models = '{}' then 'deny_list' else 'allow_list' end::model_permissions_mode as mode,
    p.allowed_models as model_ids
from projects p;

comment on view project_model_permissions is 'The setting allowed_models; an empty deny_list where all models are allowed.';

create or replace view project_provider_keys with (security_invoker = true) as
select
    array[k.provider, k.name] as _id,
    k.project_id as _project_id,
    k.provider as _provider,
    k.name as _name,
    k.provider,
    k.name,
    k.weight::positive_number as weight,
    '…' || k.last_four as redacted_value,
    to_unix_seconds(k.created_at) as created_at,
    to_unix_seconds(k.updated_at) as updated_at
from provider_keys k;

comment on view project_provider_keys is 'A project''s own keys for providers, as the admin API shows them.';

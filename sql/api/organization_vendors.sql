create or replace view organization_vendors with (security_invoker = true) as
select
    v.name as _id,
    v.name as _name,
    jsonb_build_array(v.place, v.name) as _place,
    v.name as id,
    v.name,
    coalesce(v.title, v.name) as title,
    v.base_url,
    v.format,
    v.endpoints,
    v.key_location,
    v.model_names,
    v.makes_models,
    coalesce(v.allows_private_address, true) as allows_private_address,
    v.source,
    '…' || k.last_four as redacted_value
from vendors v
left join vendor_keys k on k.vendor = v.name;

comment on view organization_vendors is 'Vendors, as the admin API shows them.';
comment on column organization_vendors.id is 'The vendor''s name.';
comment on column organization_vendors.base_url is 'The base URL before /chat/completions. Null: each installation has its own, in the setting of its base address.';
comment on column organization_vendors.key_location is 'Where requests contain the key: bearer, none, header:<name> or query:<name>. Null: bearer, or header:x-api-key with the format anthropic.';
comment on column organization_vendors.model_names is 'A regular expression for native names of its models. Null: none.';
comment on column organization_vendors.redacted_value is 'The last four characters of the key that all projects use that have none of their own. Null: the database has none.';

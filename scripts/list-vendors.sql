-- Lists the vendors in order of preference: name|base URL|format|where the key is|seed or operator|projects with a key|last four characters
-- of the installation's key.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -f scripts/list-vendors.sql
\ir begin.sql

select
    v.name,
    v.base_url,
    v.format,
    coalesce(v.key_location, case v.format when 'anthropic' then 'header:x-api-key' else 'bearer' end),
    v.source,
    (select count(distinct k.project_id) from :"schema".provider_keys k where k.provider = v.name),
    s.last_four
from :"schema".vendors v
left join :"schema".vendor_keys s on s.vendor = v.name
order by v.place, v.name;

-- Adds a vendor, or changes one; every process uses it within seconds, and projects can store keys for it. Prints nothing. columns: a JSON
-- object of columns of the table vendors, which \d+ describes; a base URL in a private network needs "allows_private_address": true.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v vendor=acme -v base_url=https://api.acme.example/v1 -f scripts/set-vendor.sql
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v vendor=acme -v columns='{"model_names": "^nova-"}' -f scripts/set-vendor.sql
\ir begin-with-vendor.sql
\if :{?columns}
\else
\set columns '{}'
\endif
\if :{?base_url}
\else
\set base_url ''
\endif

select :"schema".set_vendor(
    :'vendor', :'columns'::jsonb || case when :'base_url' = '' then '{}' else jsonb_build_object('base_url', :'base_url') end
) \gset

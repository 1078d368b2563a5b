-- Removes a vendor; no process uses it after a few seconds. Prints nothing. Fails for a vendor with keys, unless keys=remove is given.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v vendor=acme [-v keys=remove] -f scripts/remove-vendor.sql
\ir begin-with-vendor.sql
\if :{?keys}
\else
\set keys keep
\endif

select :"schema".remove_vendor(:'vendor', :'keys' = 'remove') \gset

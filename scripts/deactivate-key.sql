-- Deactivates a key and prints its prefix. The key is rejected from the next request on. key: a whole key, or its prefix in list-keys.sql
-- if it is unique.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v key=lgw_proj_AbCd1234 -f scripts/deactivate-key.sql
\ir begin-with-key.sql

select :"schema".deactivate_key(:'key');

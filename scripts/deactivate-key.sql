-- Deactivates a key and prints its prefix; the key is refused from the next request on. Give the whole key, or the prefix in
-- list-keys.sql, if no other key has the same.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v key=lgw_proj_AbCd1234 -f scripts/deactivate-key.sql
\ir begin-with-key.sql

select :"schema".deactivate_key(:'key');

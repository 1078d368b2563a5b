-- Replaces a key's value and prints the new one, which is not shown again. The key keeps its id, name, budgets and counters. The former
-- value remains valid for the grace period.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v key=lgw_proj_AbCd1234 -v grace=86400 -f scripts/rotate-key.sql
--
-- key: a whole key, or its displayed prefix. grace: in seconds (default 0; at most 90 days).
\ir begin-with-key.sql
\if :{?grace}
\else
\set grace 0
\endif

select :"schema".rotate_key(:"schema".find_key(:'key'), make_interval(secs => (:'grace')::integer));

-- Gives a key another value and prints it: the only time it is seen. The key keeps its id, name, budgets and counters, and its former
-- value works for some seconds more.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v key=lgw_proj_AbCd1234 -v grace=86400 -f scripts/rotate-key.sql
--
-- key: a whole key, or its displayed prefix. grace: in seconds (0 without it; at most 90 days).
\ir begin-with-key.sql
\if :{?grace}
\else
\set grace 0
\endif

select :"schema".rotate_key(:"schema".find_key(:'key'), make_interval(secs => (:'grace')::integer));

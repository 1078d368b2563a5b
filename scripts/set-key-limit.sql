-- Limits a key to fewer requests a minute than its plan allows, from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v key=lgw_proj_AbCd1234 -v requests_per_minute=10 -f scripts/set-key-limit.sql
--
-- key: a whole key, or its displayed prefix. requests_per_minute: none for the plan's limit.
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\if :{?key}
\else
do $$ begin raise exception 'key is missing: give -v key=lgw_proj_AbCd1234'; end $$;
\endif
\if :{?requests_per_minute}
\else
do $$ begin raise exception 'requests_per_minute is missing: give -v requests_per_minute=10'; end $$;
\endif

select set_key_limit(find_key(:'key'), nullif(:'requests_per_minute', 'none')::integer) \gset

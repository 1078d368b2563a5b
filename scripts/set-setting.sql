-- Sets one setting of a project, from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v setting=semantic_threshold -v value=0.97 -f scripts/set-setting.sql
--
--   semantic_enabled    true or false   whether a differently worded question may be answered from the cache (true)
--   semantic_threshold  0.0 to 1.0      cosine similarity above which two questions may count as the same (0.95)
--   semantic_guards     true or false   whether numbers, negation, names, ... veto similar but different questions (true)
--   cache_ttl_seconds   0 to 315360000  how long an answer stays in the cache (604800)
--   fallbacks           a,b,…           models to ask in turn when the wanted one cannot be reached; empty for none ()
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif
\if :{?setting}
\else
do $$ begin raise exception 'setting is missing: give -v setting=semantic_threshold'; end $$;
\endif
\if :{?value}
\else
do $$ begin raise exception 'value is missing: give -v value=0.97'; end $$;
\endif

select set_setting(:'project', :'setting', :'value') \gset

-- Sets one setting of a project, from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v setting=semantic_threshold -v value=0.97 -f scripts/set-setting.sql
--
--   semantic_mode              on, shadow, off   whether a differently worded question may be answered from the cache; shadow records
--                                                what would be served, and asks the provider (on; semantic_enabled: true or false)
--   semantic_policy            proved, judged,   which matches are served: proved ones only, also those that a judge or a person
--                              threshold         confirmed, all that are similar enough (proved; semantic_guards=false: threshold)
--   semantic_threshold         0.0 to 1.0        cosine similarity above which two questions may count as the same (0.95)
--   semantic_judge             off, learn,       under judged, whether a model is asked about what proof cannot decide: afterwards, or
--                              inline            while the request waits (off)
--   semantic_judge_model       a model's name    the judge; empty for none ()
--   semantic_judge_daily_usd   0 to 1000000      its budget per day, UTC (1)
--   semantic_judge_floor       0.0 to 1.0        lowest similarity to ask about (0.80)
--   semantic_judge_timeout_ms  1 to 60000        how long a request waits for it, in milliseconds (800)
--   semantic_verify_ratio      0.0 to 1.0        share of the semantic hits that the judge reviews after they were served (0)
--   cache_mode                 all,              which requests may be answered from the cache at all: deterministic, those with
--                              deterministic,    temperature 0 or a seed (all)
--                              off
--   cache_ttl_seconds          0 to 315360000    lifetime of a cached answer, in seconds (604800)
--   cache_bytes                from 0            most bytes that the project may store
--   fallbacks                  a,b,…             models to ask in turn when the requested one fails; empty for none ()
--   allowed_models             a,b*,…            models that clients may ask for, * for any characters; empty for all ()
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

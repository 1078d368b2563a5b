-- Sets one setting of a project, from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v setting=semantic_threshold -v value=0.97 -f scripts/set-setting.sql
--
--   semantic_mode              on, shadow, off   whether a differently worded question may be answered from the cache; shadow records
--                                                what would be, and asks the provider (on; semantic_enabled: true or false)
--   semantic_policy            proved, judged,   which of them: those proved to ask the same, those that a judge or a person confirmed
--                              threshold         too, all that are similar enough (proved; semantic_guards=false: threshold)
--   semantic_threshold         0.0 to 1.0        cosine similarity above which two questions may count as the same (0.95)
--   semantic_judge             off, learn,       whether a model is asked, under judged, about what proof cannot decide: while the
--                              inline            request waits, or afterwards (off)
--   semantic_judge_model       a model's name    which one; empty for none ()
--   semantic_judge_daily_usd   0 to 1000000      what may be spent on it in a day, UTC (1)
--   semantic_judge_floor       0.0 to 1.0        least similarity that is worth asking about (0.80)
--   semantic_judge_timeout_ms  1 to 60000        how long a request waits for it (800)
--   semantic_error_rate        0.0 to 0.5        how often, under judged, a question that nobody decided may be answered wrongly, once
--                                                200 verdicts show from which similarity on that holds (0: never)
--   semantic_learn_after       2 to 100          in how many different pairs of questions an exchange of words must have been called the
--                                                same, and never different, to be taken for harmless (3)
--   semantic_verify_ratio      0.0 to 1.0        which part of the semantic hits is put to that model after it was served (0)
--   cache_mode                 all,              which requests may be answered from the cache at all: deterministic, those with
--                              deterministic,    temperature 0 or a seed (all)
--                              off
--   cache_ttl_seconds          0 to 315360000    how long an answer stays in the cache (604800)
--   cache_bytes                from 0            how much the project may keep
--   fallbacks                  a,b,…             models to ask in turn when the wanted one cannot be reached; empty for none ()
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

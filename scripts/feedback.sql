-- Stores feedback on a semantic hit: whether the response was wrong or right. After wrong, the two questions never match again, from the
-- next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v request_id=req_… -v verdict=wrong -f scripts/feedback.sql
\ir begin-with-project.sql
\if :{?request_id}
\else
do $$ begin raise exception 'request_id is missing: give the answer''s X-Request-Id, -v request_id=…'; end $$;
\endif
\if :{?verdict}
\else
do $$ begin raise exception 'verdict is missing: give -v verdict=wrong or -v verdict=right'; end $$;
\endif

select :"schema".give_feedback(:'project', :'request_id', :'verdict') \gset

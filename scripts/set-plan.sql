-- Moves a project to another plan, whose limits apply from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v plan=free -f scripts/set-plan.sql
\ir begin-with-project.sql
\if :{?plan}
\else
do $$ begin raise exception 'plan is missing: give -v plan=free'; end $$;
\endif

select :"schema".set_plan(:'project', :'plan') \gset

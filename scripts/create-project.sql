-- Creates a project on a plan (free, pro, enterprise, or a plan of your own) and prints its id.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v plan=pro -f scripts/create-project.sql
\ir begin-with-project.sql
\if :{?plan}
\else
do $$ begin raise exception 'plan is missing: give -v plan=pro'; end $$;
\endif

select :"schema".create_project(:'project', :'plan');

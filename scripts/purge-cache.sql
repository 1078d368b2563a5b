-- Deletes every cached answer of a project and prints how many there were.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/purge-cache.sql
\ir begin.sql

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

select :"schema".purge_cache(:'project');

-- Deletes every cached answer of a project and prints how many there were.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/purge-cache.sql
\ir begin-with-project.sql

select :"schema".purge_cache(:'project');

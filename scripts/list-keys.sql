-- Lists a project's keys, oldest first: prefix|type|state|created|expires|last used|name. Times are UTC.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/list-keys.sql
\ir begin-with-project.sql

select * from :"schema".list_keys(:'project');

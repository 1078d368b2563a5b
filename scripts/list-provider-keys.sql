-- Lists a project's provider keys: provider|last four characters|first stored|last replaced|name|weight. Times are UTC.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/list-provider-keys.sql
\ir begin-with-project.sql

\set iso 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
select
    k.provider,
    k.last_four,
    to_char(k.created_at at time zone 'utc', :'iso'),
    to_char(k.updated_at at time zone 'utc', :'iso'),
    k.name,
    k.weight
from :"schema".provider_keys k
where k.project_id = :"schema".find_project(:'project')
order by k.provider, k.name;

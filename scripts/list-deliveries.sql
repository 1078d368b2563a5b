-- Lists the last 100 deliveries of a project's events, latest first: delivery|state|event|time|attempts|status|problem|address.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/list-deliveries.sql
\ir begin.sql

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

select 'delivery_' || d.id, d.state, d.kind, to_char(d.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), d.attempts, d.status, d.problem, w.url
from :"schema".page_of_deliveries(:"schema".find_project(:'project'), null, null, 100) d
join :"schema".webhooks w on w.id = d.webhook_id
order by d.id desc;

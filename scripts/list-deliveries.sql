-- Lists the last 100 deliveries of a project's events, latest first: delivery|state|event|time|attempts|status|problem|address.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/list-deliveries.sql
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

select 'delivery_' || d.id, d.state, d.kind, to_char(d.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), d.attempts, d.status, d.problem, w.url
from page_of_deliveries(find_project(:'project'), null, null, 100) d
join webhooks w on w.id = d.webhook_id
order by d.id desc;

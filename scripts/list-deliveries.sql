-- Lists the last 100 deliveries of a project's events, latest first: delivery|state|event|time|attempts|status|problem|address.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/list-deliveries.sql
\ir begin-with-project.sql

select d.id, d.state, d.kind, to_char(to_timestamp(d.created_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), d.attempts, d.status, d.problem, w.url
from :"schema".project_deliveries d
join :"schema".webhooks w on w.id = d._webhook_id
where d._project_id = :"schema".find_project(:'project')
order by d._id desc
limit 100;

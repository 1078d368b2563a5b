-- Prints the questions of a project that were paid for although they had been answered before, with the reason and their cost.
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -v project=acme -f scripts/paid-again.sql
--
-- Optional: -v days=30 (default: 7).
\ir begin-with-project.sql

\if :{?days}
\else
\set days 7
\endif

\pset footer off
\pset null '-'
\pset title 'Paid again by ':project' in the last ':days' days'

select f.requests as "Requests", round(f.cost_usd, 6) as "Cost USD", to_timestamp(f.since) as "Only since"
from :"schema".paid_again(:"schema".find_project(:'project'), now() - make_interval(days => :days), now()) f;

\pset title 'By question and reason'

select
    q.reason || coalesce(' (' || q.difference || ')', '') as "Reason",
    q.requests as "Requests",
    round(q.cost_usd, 6) as "Cost USD",
    q.model as "Model",
    q.last_request_id as "Last request",
    q.action as "Action"
from :"schema".paid_again(:"schema".find_project(:'project'), now() - make_interval(days => :days), now()) f
cross join unnest(f.questions) q;

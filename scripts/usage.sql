-- Prints a project's usage in a calendar month (UTC): with its quotas, and by model.
--
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -v project=acme -f scripts/usage.sql
--
-- Optional: -v month=2026-10 (default: the current month).
\ir begin-with-project.sql

\if :{?month}
\else
\set month ''
\endif

\pset footer off
\pset null '-'

select
    :"schema".find_project(:'project') as project_id,
    :"schema".parse_month(:'month') as first_day,
    to_char(:"schema".parse_month(:'month'), 'YYYY-MM') as month
\gset

select plan from :"schema".projects where id = :project_id
\gset

\pset title 'Usage of ':project', plan ':plan', ':month

select
    keys as "Keys",
    used as "Requests",
    quota as "Monthly quota",
    remaining as "Remaining"
from :"schema".quota_usage(:'project', :'first_day');

\pset title 'By model (hits are answered from the cache)'

select
    coalesce(model, 'TOTAL') as "Model",
    provider as "Provider",
    requests as "Requests",
    exact_hits as "Exact hits",
    semantic_hits as "Semantic hits",
    misses as "Misses",
    failed as "Failed",
    round(100 * hit_rate, 1) || ' %' as "Hit rate",
    prompt_tokens as "Prompt tokens",
    completion_tokens as "Completion tokens",
    saved_tokens as "Saved tokens",
    round(cost_usd, 6) as "Cost USD",
    round(saved_usd, 6) as "Saved USD"
from :"schema".usage_by_model(:'project', :'first_day');

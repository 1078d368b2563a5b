-- Settles a request whose cost is estimated: the provider's charge replaces the estimate in the record, in reports and in budgets.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v request=req_1 -v usd=0.0123 -f scripts/settle-request.sql
--
-- request: its X-Request-Id; if several requests have it, the newest with an estimated cost is settled. usd: the provider's charge in US
-- dollars.
-- Optional: -v prompt_tokens=1200 -v completion_tokens=80 (as estimated), -v recorded='2026-11-28 20:15:00.123+00' (recorded_at of its
-- record).
\ir begin-with-project.sql
\if :{?request}
\else
do $$ begin raise exception 'request is missing: give -v request=<X-Request-Id>'; end $$;
\endif
\if :{?usd}
\else
do $$ begin raise exception 'the cost is missing: give -v usd=0.0123'; end $$;
\endif
\if :{?prompt_tokens}
\else
\set prompt_tokens ''
\endif
\if :{?completion_tokens}
\else
\set completion_tokens ''
\endif
\if :{?recorded}
\else
\set recorded ''
\endif

select :"schema".settle_request(
    :'project',
    :'request',
    :'usd'::numeric,
    nullif(:'prompt_tokens', '')::integer,
    nullif(:'completion_tokens', '')::integer,
    nullif(:'recorded', '')::timestamptz
);

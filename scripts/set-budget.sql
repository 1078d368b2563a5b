-- Sets a budget of a project, from the next request on: in total, or for one key, model or tag. Prints the budget's id.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v usd=100 -v per=month -f scripts/set-budget.sql
--
-- project: its name, or * for all projects together. usd: an amount in US dollars, or tokens=1000000 instead; none removes the budget. per:
-- day, week, month or total.
-- Optional: -v key=lgw_proj_AbCd1234 (a whole key, or its prefix), -v model=gpt-4o-mini, -v tag=team=search, -v zone=Europe/Vienna (UTC).
\ir begin-with-project.sql
\if :{?per}
\else
do $$ begin raise exception 'per is missing: give -v per=month'; end $$;
\endif
\if :{?usd}
\if :{?tokens}
do $$ begin raise exception 'two amounts: give -v usd or -v tokens; each is a budget of its own'; end $$;
\endif
\set unit usd
\set amount :usd
\elif :{?tokens}
\set unit tokens
\set amount :tokens
\else
do $$ begin raise exception 'the amount is missing: give -v usd=100 or -v tokens=1000000'; end $$;
\endif
\if :{?key}
\else
\set key *
\endif
\if :{?model}
\else
\set model *
\endif
\if :{?tag}
\else
\set tag *
\endif
\if :{?zone}
\else
\set zone UTC
\endif

select :"schema".set_budget(
    nullif(:'project', '*'),
    :'unit',
    nullif(:'amount', 'none')::numeric,
    :'per',
    case when :'key' <> '*' then :"schema".find_key(:'key') end,
    nullif(:'model', '*'),
    nullif(:'tag', '*'),
    :'zone'
);

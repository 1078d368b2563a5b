-- Creates an API key and prints it. The key is not shown again. type: project (paid providers) or test (sandbox, free).
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v type=project -v name=ci -f scripts/create-key.sql
--
-- Optional: -v expires=2027-01-01, the time at which the key expires (UTC by default).
\ir begin-with-project.sql
\if :{?type}
\else
do $$ begin raise exception 'type is missing: give -v type=project'; end $$;
\endif
\if :{?name}
\else
do $$ begin raise exception 'name is missing: give -v name=ci'; end $$;
\endif

\if :{?expires}
\else
\set expires ''
\endif

select :"schema".issue_key(:'project', :'type', :'name', :"schema".parse_expiry(:'expires'));

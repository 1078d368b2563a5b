-- Creates an admin API key, which acts for an administrator, and prints it. It is not shown again.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v email=ada@example.org -v name=deploys -f scripts/create-admin-key.sql
--
-- Optional: -v expires=2027-01-01 (UTC by default): when the key expires.
\ir begin.sql

\if :{?email}
\else
do $$ begin raise exception 'email is missing: give -v email=ada@example.org'; end $$;
\endif
\if :{?name}
\else
do $$ begin raise exception 'name is missing: give -v name=deploys'; end $$;
\endif

\if :{?expires}
\else
\set expires ''
\endif

select key from :"schema".issue_admin_key(:'email', :'name', :"schema".parse_expiry(:'expires'));

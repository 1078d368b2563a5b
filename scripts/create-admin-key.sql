-- Creates an admin API key with the rights of an administrator, and prints it. The key is not shown again.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v email=ada@example.org -v name=deploys -f scripts/create-admin-key.sql
--
-- Optional:
--   -v expires=2027-01-01, the time at which the key expires (UTC by default)
--   -v permissions=read_only, a key for GET requests only
--   -v project=acme, a key that may act in this project only, as an owner
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
\if :{?permissions}
\else
\set permissions all
\endif
\if :{?project}
\else
\set project ''
\endif

select key from :"schema".issue_admin_key(:'email', :'name', :"schema".parse_expiry(:'expires'), :'permissions', nullif(:'project', ''));

-- Creates an administrator and prints a token for setting the password at DASHBOARD/invitation. The token is valid for seven days and one
-- use. For an existing administrator who lost the password, prints a new token. Rejects other users: administrators reset their passwords
-- on the page Users.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v email=ada@example.org -f scripts/create-admin.sql
--
-- Optional: -v promote=true (makes an existing user an administrator).
\ir begin.sql

\if :{?email}
\else
do $$ begin raise exception 'email is missing: give -v email=ada@example.org'; end $$;
\endif
\if :{?promote}
\else
\set promote false
\endif

select :"schema".create_administrator(:'email', (:'promote')::boolean);

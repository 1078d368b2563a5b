-- Adds an administrator, and prints a token to set a password with: enter it at DASHBOARD/invitation. It is valid for seven days and one use.
-- For an administrator who lost the password, it prints another token. It rejects a user who is not an administrator: administrators reset
-- such a user's password on the page Users.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v email=ada@example.org -f scripts/create-admin.sql
--
-- Optional: -v promote=true (makes a known user an administrator).
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

-- Adds an administrator, or makes a user one, and prints a token to set a password with: enter it at DASHBOARD/invitation. It is valid for
-- seven days and one use; run the script again for another token, also when a password was lost.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v email=ada@example.org -f scripts/create-admin.sql
\ir begin.sql

\if :{?email}
\else
do $$ begin raise exception 'email is missing: give -v email=ada@example.org'; end $$;
\endif

select :"schema".create_administrator(:'email');

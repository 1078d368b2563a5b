-- Lists a project's keys for direct providers: provider|last four characters|first stored|last replaced|name|weight. Times are UTC.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/list-provider-keys.sql
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

select * from list_provider_keys(:'project', null);

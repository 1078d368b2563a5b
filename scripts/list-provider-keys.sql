-- Lists a project's keys for direct providers: provider|last four characters|first stored|last replaced|name|weight. Times are UTC.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -f scripts/list-provider-keys.sql
\ir begin.sql

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

select * from :"schema".list_provider_keys(:'project', null);

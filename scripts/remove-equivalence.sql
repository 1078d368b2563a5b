-- Removes an exchange of words from a project's list of harmless ones, permanently, from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v one=laptop -v other=notebook -f scripts/remove-equivalence.sql
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif
\if :{?one}
\else
do $$ begin raise exception 'one is missing: give -v one=laptop'; end $$;
\endif
\if :{?other}
\else
do $$ begin raise exception 'other is missing: give -v other=notebook'; end $$;
\endif

select remove_equivalence(:'project', :'one', :'other') \gset

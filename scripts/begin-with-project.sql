-- How a script about one project begins.
\ir begin.sql
\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

-- Included first by scripts for one project.
\ir begin.sql
\if :{?project}
\else
do $$ begin raise exception 'project is missing: give -v project=acme'; end $$;
\endif

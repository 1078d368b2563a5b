-- Included first by scripts for one vendor.
\ir begin.sql
\if :{?vendor}
\else
do $$ begin raise exception 'vendor is missing: give -v vendor=acme'; end $$;
\endif

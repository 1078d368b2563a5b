-- Included first by scripts for one key.
\ir begin.sql
\if :{?key}
\else
do $$ begin raise exception 'key is missing: give -v key=lgw_proj_AbCd1234'; end $$;
\endif

-- How every operator's script begins: what goes wrong ends it with one line, and `schema` is where the proxy's tables and functions are.
\set QUIET 1
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\getenv schema DATABASE_SCHEMA
\if :{?schema}
\else
\set schema model_proxy
\endif

-- Included first by every operator script: ends the script with one line at the first error, and sets `schema` to the schema of the proxy.
\set QUIET 1
\set ON_ERROR_STOP 1
\set VERBOSITY terse
\set SHOW_CONTEXT never

\getenv schema DATABASE_SCHEMA
\if :{?schema}
\else
\set schema model_proxy
\endif

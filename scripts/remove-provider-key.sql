-- Deletes a project's provider key (openai, anthropic, groq), which is not used from the next request on: the key with the name, or the one
-- that was stored without a name. Prints its last four characters.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v provider=openai [-v name=second] -f scripts/remove-provider-key.sql
\ir begin-with-project.sql
\if :{?provider}
\else
do $$ begin raise exception 'provider is missing: give -v provider=openai'; end $$;
\endif

\if :{?name}
\else
\set name default
\endif

select :"schema".remove_provider_key(:'project', :'provider', :'name');

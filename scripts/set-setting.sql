-- Sets one setting of a project, from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v setting=semantic_threshold -v value=0.97 -f scripts/set-setting.sql
--
-- All settings with their allowed values:
--
--   psql "$DATABASE_URL" -c 'select name, preset, words, least, most, help from setting_kinds'
\ir begin-with-project.sql
\if :{?setting}
\else
do $$ begin raise exception 'setting is missing: give -v setting=semantic_threshold'; end $$;
\endif
\if :{?value}
\else
do $$ begin raise exception 'value is missing: give -v value=0.97'; end $$;
\endif

select :"schema".set_setting(:'project', :'setting', :'value') \gset

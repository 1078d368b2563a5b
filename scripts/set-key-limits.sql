-- Sets limits of a key, in addition to its project's plan and settings, from the next request on. Prints nothing.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v key=lgw_proj_AbCd1234 -v requests_per_minute=10 -f scripts/set-key-limits.sql
--
-- key: a whole key, or its displayed prefix. Requires at least one of requests_per_minute=10, tokens_per_minute=50000,
-- allowed_models='gpt-4o*,openai/*' (patterns of names, * for any characters) and allowed_addresses='10.0.0.0/8,2001:db8::/32'. none
-- removes a limit; omitted limits are unchanged.
\ir begin-with-key.sql
\set limits {}
\if :{?requests_per_minute}
select :'limits'::jsonb || jsonb_build_object('requests_per_minute', nullif(:'requests_per_minute', 'none')) as limits \gset
\endif
\if :{?tokens_per_minute}
select :'limits'::jsonb || jsonb_build_object('tokens_per_minute', nullif(:'tokens_per_minute', 'none')) as limits \gset
\endif
\if :{?allowed_models}
select :'limits'::jsonb || jsonb_build_object('allowed_models', string_to_array(nullif(:'allowed_models', 'none'), ',')) as limits \gset
\endif
\if :{?allowed_addresses}
select :'limits'::jsonb || jsonb_build_object('allowed_addresses', string_to_array(nullif(:'allowed_addresses', 'none'), ',')) as limits \gset
\endif
select :'limits' = '{}' as is_empty \gset
\if :is_empty
do $$ begin raise exception 'a limit is missing: give -v requests_per_minute=10, -v allowed_models=gpt-4o* or -v allowed_addresses=10.0.0.0/8'; end $$;
\endif

select :"schema".set_key_limits(:"schema".find_key(:'key'), :'limits') \gset

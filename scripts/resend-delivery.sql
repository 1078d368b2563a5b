-- Delivers an event again, with the same id. delivery: an id that list-deliveries.sql prints.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v delivery=delivery_12 -f scripts/resend-delivery.sql
\ir begin-with-project.sql
\if :{?delivery}
\else
do $$ begin raise exception 'delivery is missing: give -v delivery=delivery_12'; end $$;
\endif

select :"schema".resend_delivery(:'project', substring(:'delivery' from '^(?:delivery_)?(\d{1,15})$')::bigint);

-- Delivers an event once more, under the same id. The delivery is one that list-deliveries.sql shows.
--
--   psql "$DATABASE_URL" -qAt -v ON_ERROR_STOP=1 -v project=acme -v delivery=delivery_12 -f scripts/resend-delivery.sql
\ir begin-with-project.sql
\if :{?delivery}
\else
do $$ begin raise exception 'delivery is missing: give -v delivery=delivery_12'; end $$;
\endif

select :"schema".resend_delivery(:'project', substring(:'delivery' from '^(?:delivery_)?(\d{1,15})$')::bigint);

create or replace function model_names(of_model text) returns text[]
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select array[plain.name, regexp_replace(plain.name, '-(\d{4}-\d{2}-\d{2}|\d{8}|(0[1-9]|1[0-2])\d{2}|latest)$', '')]
    from (
        -- Names of the aggregator have the form vendor/name:variant.
        select case when of_model like 'ft:%' then of_model else regexp_replace(of_model, '^.+/([^/:]+)(:[^/]*)?$', '\1') end as name
    ) own
    cross join lateral (
        select case when own.name like 'claude-%' then regexp_replace(own.name, '-(\d)-(\d{1,2})(?=-|$)', '-\1.\2') else own.name end as name
    ) plain;
$$;

comment on function model_names(text) is
    'The names by which a budget may refer to a model, however the request named it: first, without the vendor and a variant, and with Claude''s version as aggregators write it; second, also without the date of a snapshot.';

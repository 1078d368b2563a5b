create or replace function hide_url_path(url text) returns text
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select substring(url from '^https?://[^/?#]+') || '/…';
$$;

comment on function hide_url_path(text) is 'The scheme and host of a webhook''s URL, without its path, which may be a secret.';

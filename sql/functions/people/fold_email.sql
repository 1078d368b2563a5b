create or replace function fold_email(given text) returns text
language sql
immutable
parallel safe
set search_path = model_proxy, pg_temp
as $$
    -- In some locales the lower case of other letters is an ASCII letter (İ: i, the Kelvin sign: k): another person's address.
    select lower(btrim(given) collate "C");
$$;

comment on function fold_email(text) is 'An e-mail address in the form of users.email: without spaces around it, and with ASCII letters in lower case.';

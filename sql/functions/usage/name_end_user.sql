create or replace function name_end_user(name text) returns text
language sql
immutable
strict
parallel safe
set search_path = model_proxy, pg_temp
as $$
    select case
        when char_length(name) <= 128
            and name !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
            and name !~ '…[0-9a-f]{32}$'
        then name
        else regexp_replace(left(name, 95), '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]', ' ', 'g')
            || '…' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 32)
    end;
$$;

comment on function name_end_user(text) is 'The form in which records, stored answers and kept texts name an end user, which is nobody else''s: the name itself or, where it is longer than 128 characters, unprintable or looks like such a form, its beginning with a hash of the whole.';

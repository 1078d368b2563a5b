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

comment on function name_end_user(text) is 'Returns the unique form in which records, cached responses and stored contents name an end user: the name itself or, if it has more than 128 characters, is unprintable or looks like a shortened form, its beginning with a hash of the whole name.';

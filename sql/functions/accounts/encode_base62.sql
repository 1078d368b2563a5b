create or replace function encode_base62(bytes bytea, digits integer) returns text
language plpgsql
immutable
strict
parallel safe
set search_path = model_proxy, pg_temp
as $$
declare
    alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    remaining numeric := 0;
    encoded text := '';
begin
    for i in 0..octet_length(bytes) - 1 loop
        remaining := remaining * 256 + get_byte(bytes, i);
    end loop;
    for i in 1..digits loop
        encoded := encoded || substr(alphabet, (remaining % 62)::integer + 1, 1);
        remaining := div(remaining, 62);
    end loop;
    return encoded;
end;
$$;

comment on function encode_base62(bytea, integer) is 'The lowest digits of the bytes, read as one big-endian number, in base 62.';

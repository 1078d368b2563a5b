create or replace function generate_secret(prefix text) returns text
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    alphabet constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    -- Two random UUIDs have 244 bits from the system's random source. The hash hides their fixed bits. 32 digits in base 62 hold 190 bits.
    bytes constant bytea := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
    remaining numeric := 0;
    secret text := prefix;
begin
    for i in 0..octet_length(bytes) - 1 loop
        remaining := remaining * 256 + get_byte(bytes, i);
    end loop;
    for i in 1..32 loop
        secret := secret || substr(alphabet, (remaining % 62)::integer + 1, 1);
        remaining := div(remaining, 62);
    end loop;
    return secret;
end;
$$;

comment on function generate_secret(text) is 'A new secret: the prefix and 32 random letters and digits.';

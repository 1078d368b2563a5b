create or replace function generate_secret(prefix text) returns text
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- Two random UUIDs have 244 bits from the system's random source. The hash hides their fixed bits. 32 digits hold 190 bits.
    select prefix || encode_base62(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 32);
$$;

comment on function generate_secret(text) is 'A new secret: the prefix and 32 random letters and digits.';

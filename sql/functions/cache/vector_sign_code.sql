create or replace function vector_sign_code(vector halfvec) returns bit
language sql
immutable
strict
as $$
    select binary_quantize(vector)::bit(512);
$$;

comment on function vector_sign_code(halfvec) is 'Signs of the first 512 numbers of a vector: the codes in lists. The codes of similar vectors differ in few bits.';

create or replace function hash_pair(one_hash bytea, other_hash bytea) returns bytea
language sql
immutable
parallel safe
set search_path = public, pg_temp
as $$
    select sha256(least(one_hash, other_hash) || greatest(one_hash, other_hash));
$$;

comment on function hash_pair(bytea, bytea) is 'A name for a pair of normalized questions, independent of their order.';

-- For the release before hashes were lists.
create or replace function split_hashes(packed bytea) returns bytea[]
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select array(
        select substring(packed from g.place * 32 + 1 for 32)
        from generate_series(0, octet_length(packed) / 32 - 1) as g (place)
        order by g.place
    );
$$;

comment on function split_hashes(bytea) is 'The hashes (32 bytes each) that are concatenated.';

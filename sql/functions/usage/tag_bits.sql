create or replace function tag_bits(tags jsonb) returns bit
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select coalesce(bit_or(set_bit(0::bit(32768), b.place, 1)), 0::bit(32768))
    from jsonb_each_text(tags) as t (name, value)
    cross join generate_series(1, 3) as seed
    cross join lateral (select (hashtextextended(t.name || '=' || t.value, seed) & 32767)::integer) as b (place)
    -- Omits user_id: end users can be forgotten, and have an index of their own.
    where t.name <> 'user_id';
$$;

comment on function tag_bits(jsonb) is 'The bits of a set of tags in a Bloom filter: three of each tag but user_id. A filter without one of them has no set with this tag.';

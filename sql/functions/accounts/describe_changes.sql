create or replace function describe_changes(before jsonb, after jsonb) returns text
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select string_agg(
        format('%s %s -> %s', replace(c.field, '_usd_per_million', ''), c.shown[1], c.shown[2]),
        ', ' order by c.field
    )
    from (
        select n.key as field, array(
            select case jsonb_typeof(v.value)
                when 'number' then trim_scale(v.value::numeric)::text
                when 'null' then 'none'
                else v.value #>> '{}'
            end
            from unnest(array[o.value, n.value]) with ordinality as v (value, place)
            order by v.place
        ) as shown
        from jsonb_each(after) n
        join jsonb_each(before) o using (key)
        where n.value <> o.value
    ) c;
$$;

comment on function describe_changes(jsonb, jsonb) is 'The fields of both objects whose values differ, as "input 2 -> 1.5, output 8 -> 6"; null when none does.';

create or replace function find_in_cache_lists(lists bigint, asked halfvec) returns bigint[]
language plpgsql
stable
as $$
declare
    nearest bigint[];
begin
    -- Planned at each call, because it names a table: therefore kept as short as possible.
    execute format('select array(select g.entry_id from cache_lists_%s g order by g.code <~> $1 limit 20)', lists)
    into nearest
    using cache_code(asked);
    return nearest;
exception
    when undefined_table then
        -- The lists were rebuilt or dropped since the group was read: treated as if nothing similar existed.
        return null;
end;
$$;

comment on function find_in_cache_lists(bigint, halfvec) is 'The twenty entries of a group whose prompts'' codes are nearest; an entry appears twice when its prompt was added twice.';

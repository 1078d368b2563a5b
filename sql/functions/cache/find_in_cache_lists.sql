create or replace function find_in_cache_lists(lists bigint, asked halfvec) returns bigint[]
language plpgsql
stable
as $$
declare
    nearest bigint[];
begin
    -- Of lists, that are compared: anything more similar than a useful threshold lies in the first two or three. Set here, since only a
    -- superuser may set an extension's parameter in a function's head before the extension is loaded, as a restored dump would.
    perform set_config('ivfflat.probes', '4', true);
    -- Planned at each call, because it names a table: therefore kept as short as possible.
    execute format('select array(select g.entry_id from cache_lists_%s g order by g.code <~> $1 limit 20)', lists)
    into nearest
    using vector_sign_code(asked);
    return nearest;
exception
    when undefined_table then
        -- The lists were rebuilt or dropped since the group was read: treated as if nothing similar existed.
        return null;
end;
$$;

comment on function find_in_cache_lists(bigint, halfvec) is 'The twenty entries of a group whose prompts'' codes are nearest; an entry appears twice when its prompt was added twice.';

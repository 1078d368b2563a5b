create or replace function find_in_cache_lists(lists bigint, asked halfvec) returns bigint[]
language plpgsql
stable
as $$
declare
    nearest bigint[];
begin
    -- The number of lists that are compared. A prompt that exceeds a useful threshold is in the first two or three. The setting is made
    -- here, because only a superuser may set an extension's parameter in a function definition before the extension is loaded, as when a
    -- dump is restored.
    perform set_config('ivfflat.probes', '4', true);
    -- Each call plans this statement, because it names a table, so the statement is as short as possible.
    execute format('select array(select g.entry_id from cache_lists_%s g order by g.code <~> $1 limit 20)', lists)
    into nearest
    using vector_sign_code(asked);
    return nearest;
exception
    when undefined_table then
        -- The lists were rebuilt or dropped since the group was read. The caller then finds nothing similar.
        return null;
end;
$$;

comment on function find_in_cache_lists(bigint, halfvec) is 'The twenty entries of a group whose prompts'' codes are nearest; an entry appears twice when its prompt was added twice.';

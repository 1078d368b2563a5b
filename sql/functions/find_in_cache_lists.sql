create or replace function find_in_cache_lists(lists bigint, asked halfvec) returns bigint[]
language plpgsql
stable
set search_path = public, pg_temp
-- How many lists are compared. What is more similar than any threshold that is of use lies in the first two or three.
set ivfflat.probes = 4
as $$
declare
    nearest bigint[];
begin
    -- Planned anew at each call, for it names a table: hence as little as can be.
    execute format('select array(select g.entry_id from cache_lists_%s g order by g.code <~> $1 limit 20)', lists)
    into nearest
    using cache_code(asked);
    return nearest;
exception
    when undefined_table then
        -- Rebuilt under another number, or dropped, since the group was read: as if nothing similar were there.
        return null;
end;
$$;

comment on function find_in_cache_lists(bigint, halfvec) is 'The twenty entries of a group whose prompts'' codes are nearest, an entry twice where its prompt was put in twice.';

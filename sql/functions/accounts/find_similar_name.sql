create or replace function find_similar_name(given_name text, names text[]) returns text
language plpgsql
immutable
set search_path = model_proxy, pg_temp
as $$
declare
    wanted constant text := lower(given_name);
    has_vendor constant boolean := strpos(given_name, '/') > 0;
    -- The maximum edit distance. A match lowers it to its own distance.
    most integer := greatest(2, length(given_name) * 2 / 5);
    nearest text;
    candidate record;
    before integer[];
    last integer[];
    current integer[];
    replaced integer;
begin
    if length(given_name) > 100 then
        return null;
    end if;
    for candidate in
        select n.name, c.compared, length(c.compared) as letters
        from unnest(names) n (name)
        cross join lateral (
            select lower(case when has_vendor then n.name else regexp_replace(n.name, '^[^/]*/', '') end) as compared
        ) c
        -- Likely names come first, so that the others are abandoned early.
        order by left(c.compared, 3) <> left(wanted, 3), abs(length(c.compared) - length(wanted))
    loop
        continue when abs(candidate.letters - length(wanted)) > most;
        -- Optimal string alignment: the number of letters to insert, delete, replace, or swap with their neighbour.
        last := array(select j from generate_series(0, candidate.letters) j);
        for i in 1 .. length(wanted) loop
            current := array[i];
            for j in 1 .. candidate.letters loop
                replaced := last[j] + (substr(wanted, i, 1) <> substr(candidate.compared, j, 1))::integer;
                if i > 1 and j > 1
                    and substr(wanted, i, 1) = substr(candidate.compared, j - 1, 1)
                    and substr(wanted, i - 1, 1) = substr(candidate.compared, j, 1)
                then
                    replaced := least(replaced, before[j - 1] + 1);
                end if;
                current[j + 1] := least(last[j + 1] + 1, current[j] + 1, replaced);
            end loop;
            before := last;
            last := current;
            exit when (select min(d) from unnest(current) d) > most;
        end loop;
        if last[candidate.letters + 1] < most
            or last[candidate.letters + 1] = most and (nearest is null or candidate.name collate "C" < nearest)
        then
            nearest := candidate.name;
            most := last[candidate.letters + 1];
        end if;
    end loop;
    return nearest;
end;
$$;

comment on function find_similar_name(text, text[]) is
    'The name with the smallest edit distance, by the rule of src/providers/similar-names.ts: at most two letters or two fifths may differ, and a name''s vendor counts only if one was given. Null: result (none is similar).';

create or replace function note_exchange(of_project bigint, exchange jsonb, pair bytea, given text, by_source text) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    most_learned constant integer := 1000;
    one text := least(exchange ->> 'one', exchange ->> 'other');
    other text := greatest(exchange ->> 'one', exchange ->> 'other');
    words text[] := array(select jsonb_array_elements_text(exchange -> 'around'));
    known learned_equivalences;
begin
    if given = 'different' then
        insert into learned_equivalences as q (project_id, one_words, other_words, around, withdrawn_at, withdrawn_by)
        values (of_project, one, other, words, now(), by_source)
        on conflict (project_id, one_words, other_words) do update
        set withdrawn_at = now(),
            withdrawn_by = excluded.withdrawn_by,
            noted_at = now()
        where q.withdrawn_at is null
        returning * into known;
        -- Aliases in Redis that rest on this exchange become invalid, too.
        if known.learned_at is not null then
            update projects p
            set equivalences_version = p.equivalences_version + 1,
                verdict_generation = p.verdict_generation + 1
            where p.id = of_project;
        end if;
        return;
    end if;

    insert into learned_equivalences as q (project_id, one_words, other_words, around, pairs)
    values (of_project, one, other, words, array[pair])
    on conflict (project_id, one_words, other_words) do update
    set around = array(select unnest(q.around) intersect select unnest(excluded.around) order by 1),
        pairs = case when pair = any (q.pairs) or cardinality(q.pairs) >= 100 then q.pairs else q.pairs || pair end,
        noted_at = now()
    where q.withdrawn_at is null
        -- For a learned exchange, the only news is that it holds among fewer words.
        and (q.learned_at is null or not q.around <@ excluded.around)
    returning * into known;
    if known.project_id is null then
        return;
    end if;

    if known.learned_at is null then
        update learned_equivalences q
        set learned_at = now()
        from projects p
        where (q.project_id, q.one_words, q.other_words) = (of_project, one, other)
            and p.id = of_project
            and cardinality(q.pairs) >= p.semantic_learn_after
            and (
                select count(*)
                from learned_equivalences l
                where l.project_id = of_project
                    and l.learned_at is not null
                    and l.withdrawn_at is null
            ) < most_learned;
        if not found then
            return;
        end if;
    end if;
    update projects p set equivalences_version = p.equivalences_version + 1 where p.id = of_project;
end;
$$;

comment on function note_exchange(bigint, jsonb, bytea, text, text) is
    'Records what a verdict (same or different) of that source on a pair of questions says about the one exchange of words between them. The first different withdraws it permanently. After same for semantic_learn_after different pairs, it is harmless among the words around it in all of them.';

create or replace function learned_exchanges(of_project bigint) returns table (version integer, exchanges jsonb)
language sql
stable
set search_path = public, pg_temp
as $$
    select
        p.equivalences_version,
        (
            select coalesce(jsonb_agg(jsonb_build_object(
                'one', q.one_words, 'other', q.other_words, 'around', q.around, 'pairs', cardinality(q.pairs), 'learned_at', q.learned_at
            ) order by q.learned_at, q.one_words, q.other_words), '[]')
            from learned_equivalences q
            where q.project_id = p.id
                and q.learned_at is not null
                and q.withdrawn_at is null
        )
    from projects p
    where p.id = of_project;
$$;

comment on function learned_exchanges(bigint) is 'The exchanges of words that are harmless in a project, and the version of that list.';

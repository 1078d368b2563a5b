create or replace function find_effective_verdict(of_project bigint, of_context bytea, asked_hash bytea, entry_hash bytea)
returns table (
    verdict text,
    source text
)
language sql
stable
rows 1
-- A search_path setting would prevent inlining.
as $$
    select v.verdict, v.source
    from cache_verdicts v
    where v.project_id = of_project
        and v.one_hash = least(asked_hash, entry_hash)
        and v.other_hash = greatest(asked_hash, entry_hash)
        -- A person's verdict different applies in every context.
        and (v.context_hash = of_context or (v.source = 'person' and v.verdict = 'different'))
    order by array_position(array['person', 'review', 'judge'], v.source), v.given_at desc
    limit 1;
$$;

comment on function find_effective_verdict(bigint, bytea, bytea, bytea) is
    'The verdict that applies to two normalized questions in a context: the latest of a person, same there or different in any context; else a review''s, else the judge''s. No row: there is none.';

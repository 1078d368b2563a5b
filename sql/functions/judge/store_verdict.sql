create or replace function store_verdict(
    of_project bigint,
    of_context bytea,
    asked_hash bytea,
    entry_hash bytea,
    by_source text,
    given text,
    until timestamptz,
    at_similarity double precision,
    by_difference text,
    of_users text[]
)
returns boolean
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with stored as (
        insert into cache_verdicts as v (project_id, context_hash, one_hash, other_hash, source, verdict, expires_at, similarity, difference, end_users)
        select
            of_project, of_context, least(asked_hash, entry_hash), greatest(asked_hash, entry_hash), by_source, given,
            -- A person's verdict different also applies in later contexts.
            case when by_source = 'person' and given = 'different' then greatest(until, now() + interval '1 year') else until end,
            at_similarity, by_difference, of_users
        from projects p
        where p.id = of_project
        on conflict (project_id, one_hash, other_hash, context_hash, source) do update
        set verdict = excluded.verdict,
            similarity = excluded.similarity,
            difference = excluded.difference,
            given_at = now(),
            expires_at = greatest(v.expires_at, excluded.expires_at),
            end_users = excluded.end_users
        returning 1
    )
    select exists (select from stored);
$$;

comment on function store_verdict(bigint, bytea, bytea, bytea, text, text, timestamptz, double precision, text, text[]) is
    'Stores a verdict about two normalized questions of equal context, in place of an earlier one of the same source there; a person''s verdict different is stored for a year. False when the project was deleted. Null: of_users (no end user was named).';

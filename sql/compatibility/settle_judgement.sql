create or replace function settle_judgement(
    of_project bigint,
    of_day date,
    correction_usd numeric,
    of_context bytea,
    asked_hash bytea,
    entry_hash bytea,
    given text,
    until timestamptz,
    at_similarity double precision,
    by_difference text
)
returns void
language sql
volatile
set search_path = public, pg_temp
as $$
    select settle_judgement(
        of_project, of_day, correction_usd, of_context, asked_hash, entry_hash, given, until, at_similarity, by_difference, 'judge', null, null
    );
$$;

comment on function settle_judgement(bigint, date, numeric, bytea, bytea, bytea, text, timestamptz, double precision, text) is 'As the previous release calls it.';

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
language plpgsql
volatile
set search_path = public, pg_temp
as $$
begin
    update judge_spending s
    set usd = greatest(0, s.usd + correction_usd)
    where s.project_id = of_project
        and s.day = of_day;

    if given is not null then
        perform store_verdict(of_project, of_context, asked_hash, entry_hash, 'judge', given, until, at_similarity, by_difference);
    end if;
end;
$$;

comment on function settle_judgement(bigint, date, numeric, bytea, bytea, bytea, text, timestamptz, double precision, text) is
    'Puts right what reserve_judgement() took, and keeps the judge''s verdict where it gave one.';

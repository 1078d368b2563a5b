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
    by_difference text,
    by_source text,
    queued bigint
)
returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
begin
    update judge_spending s
    set usd = greatest(0, s.usd + correction_usd)
    where s.project_id = of_project
        and s.day = of_day;
    perform charge_budgets(p.id, p.semantic_judge_model, correction_usd)
    from projects p
    where p.id = of_project
        and p.has_budgets;

    if given is null then
        return;
    end if;
    delete from judge_queue q where q.id = queued;
    if not store_verdict(of_project, of_context, asked_hash, entry_hash, by_source, given, until, at_similarity, by_difference) then
        return;
    end if;
    -- As with a person's verdict: aliases in Redis become invalid.
    if by_source = 'review' and given = 'different' then
        update projects p set verdict_generation = p.verdict_generation + 1 where p.id = of_project;
    end if;
end;
$$;

comment on function settle_judgement(
    bigint, date, numeric, bytea, bytea, bytea, text, timestamptz, double precision, text, text, bigint
) is
    'Corrects what reserve_judgement() reserved. If the judge gave a verdict, stores it under its source (judge or review) and removes the pair from the queue.';

create or replace function settle_judgement(
    of_project bigint,
    of_day date,
    correction_usd numeric,
    context_hash text,
    asked_hash text,
    entry_hash text,
    verdict text,
    until timestamptz,
    similarity double precision,
    difference text,
    source text,
    queued_id bigint
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

    if verdict is null then
        return;
    end if;
    delete from judge_queue q where q.id = queued_id;
    if not store_verdict(
        of_project, decode(context_hash, 'hex'), decode(asked_hash, 'hex'), decode(entry_hash, 'hex'), source, verdict, until, similarity,
        difference, null
    ) then
        return;
    end if;
    -- As with a person's verdict: invalidates aliases in Redis.
    if source = 'review' and verdict = 'different' then
        update projects p set verdict_generation = p.verdict_generation + 1 where p.id = of_project;
    end if;
end;
$$;

comment on function settle_judgement(
    bigint, date, numeric, text, text, text, text, timestamptz, double precision, text, text, bigint
) is
    'Corrects what reserve_judgement() reserved. If the judge gave a verdict, stores it under its source (judge or review) and removes the pair from the queue. Hashes in hex. Null: verdict (there is none), similarity (of no use for calibration), difference (nothing prevented proof), queued_id (the pair was not queued).';

create or replace function reserve_judgement(of_project bigint, at_most_usd numeric) returns date
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    asking record;
    reserved date;
begin
    select p.has_budgets, p.semantic_judge_model as model into asking from projects p where p.id = of_project;
    if asking.has_budgets and not charge_budgets(of_project, asking.model, at_most_usd) then
        return null;
    end if;

    insert into judge_spending as s (project_id, day, pairs, usd)
    select p.id, (now() at time zone 'utc')::date, 1, at_most_usd
    from projects p
    where p.id = of_project
        and p.semantic_judge_daily_usd > 0
        and at_most_usd <= p.semantic_judge_daily_usd
    on conflict (project_id, day) do update
    set pairs = s.pairs + 1,
        usd = s.usd + excluded.usd
    -- The limit is checked again after waiting for the row.
    where s.usd + excluded.usd <= (select p.semantic_judge_daily_usd from projects p where p.id = of_project)
    returning s.day into reserved;
    if reserved is null and asking.has_budgets then
        perform charge_budgets(of_project, asking.model, -at_most_usd);
    end if;
    return reserved;
end;
$$;

comment on function reserve_judgement(bigint, numeric) is
    'Reserves the upper bound of the cost of a call to the judge, in the judge''s budget of the day (UTC) and in the project''s budgets, and returns that day. settle_judgement() releases the excess. Null: result (too little is left, and nothing was reserved).';

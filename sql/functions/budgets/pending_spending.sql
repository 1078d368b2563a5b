create or replace function pending_spending(of_budget budgets, from_time timestamptz, until_time timestamptz default 'infinity')
returns numeric
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    select coalesce(sum(case of_budget.unit when 'usd' then m.usd else m.tokens end), 0)
    from (
        select p.model, sum(p.cost_usd) as usd, sum(p.prompt_tokens + p.completion_tokens) as tokens
        from usage_pending p
        where (of_budget.project_id is null or p.project_id = of_budget.project_id)
            and p.at >= from_time
            and p.at < until_time
            and (of_budget.key_id is null or p.key_id = of_budget.key_id)
            and (of_budget.tag is null or p.tags @> of_budget.tag)
        group by p.model
    ) m
    where of_budget.model is null
        or (model_names(of_budget.model))[1] = any (model_names(m.model));
$$;

comment on function pending_spending(budgets, timestamptz, timestamptz) is
    'The cost of the requests that match a budget between the beginnings of two quarters of an hour, in its unit, according to usage_pending.';

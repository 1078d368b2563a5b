create or replace function summed_spending(of_budget budgets, from_time timestamptz, until_time timestamptz default 'infinity')
returns numeric
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with midnights as (
        select date_bin('1 day', from_time + interval '1 day - 1 microsecond', 'epoch') as first, date_bin('1 day', until_time, 'epoch') as last
    ),
    pieces as (
        -- Quarters before the first UTC midnight, whole days, and quarters after the last midnight.
        select 'quarter' as grain, from_time as begins, least(m.first, until_time) as ends from midnights m
        union all
        select 'day', m.first, m.last from midnights m
        union all
        select 'quarter', greatest(m.first, m.last), until_time from midnights m
    ),
    by_model as (
        select s.model, sum(s.cost_usd) as usd, sum(s.prompt_tokens + s.completion_tokens) as tokens
        from pieces p
        join usage_sums s on s.project_id = coalesce(of_budget.project_id, 0) and s.grain = p.grain and s.at >= p.begins and s.at < p.ends
        where of_budget.key_id is null
            or s.key_id = of_budget.key_id
        group by s.model
    )
    select coalesce(sum(case of_budget.unit when 'usd' then m.usd else m.tokens end), 0)
    from by_model m
    where of_budget.model is null
        or (model_names(of_budget.model))[1] = any (model_names(m.model));
$$;

comment on function summed_spending(budgets, timestamptz, timestamptz) is
    'The cost of the requests that match a budget without a tag between the beginnings of two quarters of an hour, in its unit, according to usage_sums.';

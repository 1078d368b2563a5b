create or replace function summed_tagged_spending(of_budget budgets, from_time timestamptz, until_time timestamptz default 'infinity')
returns numeric
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with whole as (
        select date_bin('1 hour', from_time + interval '1 hour - 1 microsecond', 'epoch') as first, date_bin('1 hour', until_time, 'epoch') as last
    ),
    summed as materialized (
        select u.at, u.tags, u.model, sum(u.cost_usd) as usd, sum(u.prompt_tokens + u.completion_tokens) as tokens
        from whole w
        join usage_sums_by_tag u on u.project_id = of_budget.project_id and u.grain = 'hour' and u.at >= w.first and u.at < w.last
        where u.tags = '{}'
            or u.tags @> of_budget.tag and (of_budget.key_id is null or u.key_id = of_budget.key_id)
        group by u.at, u.tags, u.model
    ),
    -- Hours whose records are read: the sums of some lack tags, and the first and the last may be partial.
    unsummed as materialized (
        select distinct s.at as begins, s.at + interval '1 hour' as ends from summed s where s.tags = '{}'
        union all
        select from_time, least(w.first, until_time) from whole w where from_time < w.first
        union all
        select greatest(w.first, w.last), until_time from whole w where greatest(w.first, w.last) < until_time
    ),
    by_model (model, usd, tokens) as (
        select s.model, s.usd, s.tokens
        from summed s
        where s.at not in (select h.begins from unsummed h)
        union all
        select r.model, r.cost_usd, r.prompt_tokens + r.completion_tokens
        from unsummed h
        join usage_records r on r.project_id = of_budget.project_id and r.recorded_at >= h.begins and r.recorded_at < h.ends
        where r.tags @> of_budget.tag
            and (of_budget.key_id is null or r.key_id = of_budget.key_id)
        union all
        -- Subtracts pending rows, which pending_spending() counts.
        select p.model, -p.cost_usd, -p.prompt_tokens - p.completion_tokens
        from unsummed h
        join usage_pending p on p.project_id = of_budget.project_id and p.at >= h.begins and p.at < h.ends
        where p.tags @> of_budget.tag
            and (of_budget.key_id is null or p.key_id = of_budget.key_id)
    ),
    by_name as (
        select m.model, sum(m.usd) as usd, sum(m.tokens) as tokens from by_model m group by m.model
    )
    select coalesce(sum(case of_budget.unit when 'usd' then m.usd else m.tokens end), 0)
    from by_name m
    where of_budget.model is null
        or (model_names(of_budget.model))[1] = any (model_names(m.model));
$$;

comment on function summed_tagged_spending(budgets, timestamptz, timestamptz) is
    'The cost of the requests that match a budget with a tag between the beginnings of two quarters of an hour, in its unit, without pending usage: from usage_sums_by_tag, and from records for partial hours and hours that lack tags.';

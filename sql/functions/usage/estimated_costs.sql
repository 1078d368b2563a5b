create or replace function estimated_costs(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    of_model text,
    of_key bigint,
    of_key_type text
)
returns setof estimated_cost
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select r.cost_estimated, count(*), sum(r.cost_usd), coalesce(sum(r.doubtful_usd), 0)
    from usage_records r
    where r.cost_estimated is not null
        and (of_projects is null or r.project_id = any (of_projects))
        and r.recorded_at >= from_time
        and r.recorded_at < until_time
        and (of_model is null or r.model = of_model)
        and (of_key is null or r.key_id = of_key)
        and (of_key_type is null or (r.key_id in (select test_keys())) = (of_key_type = 'test'))
    group by r.cost_estimated
    order by sum(r.cost_usd) desc, r.cost_estimated;
$$;

comment on function estimated_costs(bigint[], timestamptz, timestamptz, text, bigint, text) is
    'The estimated costs in a time, by reason (cost_estimated), and the amounts that may have been charged beyond them (doubtful_usd). Null: of_projects (all that may be seen), of_model, of_key, of_key_type (any).';

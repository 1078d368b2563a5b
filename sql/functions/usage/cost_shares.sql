create or replace function cost_shares(
    of_projects bigint[],
    previous_time timestamptz,
    previous_until timestamptz,
    from_time timestamptz,
    until_time timestamptz,
    share_by text,
    of_key_type text,
    max_rows integer
)
returns table (
    level text,
    name text,
    shares bigint,
    requests bigint,
    hits bigint,
    misses bigint,
    cost_usd numeric,
    estimated_usd numeric,
    saved_usd numeric,
    previous_usd numeric
)
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with read as (
        select g.name, g.requests, g.hits, g.misses, g.cost_usd, 0 as estimated_usd, g.saved_usd, 0 as previous_usd
        from grouped_costs(of_projects, from_time, until_time, share_by, of_key_type) g
        union all
        select p.name, 0, 0, 0, 0, 0, 0, p.cost_usd
        from grouped_costs(of_projects, previous_time, previous_until, share_by, of_key_type) p
        -- A group that had no costs before, and no requests now, has no row.
        where p.cost_usd <> 0
        union all
        select e.name, 0, 0, 0, 0, e.cost_usd, 0, 0
        from estimated_shares(of_projects, from_time, until_time, share_by, of_key_type) e
    ),
    ranked as (
        select
            r.name, sum(r.requests) as requests, sum(r.hits) as hits, sum(r.misses) as misses, sum(r.cost_usd) as cost_usd,
            sum(r.estimated_usd) as estimated_usd, sum(r.saved_usd) as saved_usd, sum(r.previous_usd) as previous_usd,
            row_number() over (order by sum(r.cost_usd) desc, sum(r.previous_usd) desc, sum(r.requests) desc, r.name) as place
        from read r
        group by r.name
    ),
    leveled as (
        select
            case when k.place <= max_rows then 'group' else 'rest' end as level, case when k.place <= max_rows then k.name end as name, k.place,
            k.requests, k.hits, k.misses, k.cost_usd, k.estimated_usd, k.saved_usd, k.previous_usd
        from ranked k
    )
    select
        case when grouping(l.level) = 1 then 'total' else l.level end,
        l.name,
        count(*),
        coalesce(sum(l.requests), 0)::bigint,
        coalesce(sum(l.hits), 0)::bigint,
        coalesce(sum(l.misses), 0)::bigint,
        coalesce(sum(l.cost_usd), 0),
        coalesce(sum(l.estimated_usd), 0),
        coalesce(sum(l.saved_usd), 0),
        coalesce(sum(l.previous_usd), 0)
    from leveled l
    group by grouping sets ((l.level, l.name), ())
    order by 1, min(l.place);
$$;

comment on function cost_shares(bigint[], timestamptz, timestamptz, timestamptz, timestamptz, text, text, integer) is
    'Costs in a time by a group of grouped_costs(), most expensive first, with their estimated part and the cost from previous_time to previous_until. level: group (the first max_rows; an empty name: without one), rest (the others together) or total. shares: how many groups a row has. Null: of_projects (all that may be seen), of_key_type (any), name (rest, total).';

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
    with estimated as (
        select
            coalesce(
                case share_by
                    when 'team' then r.tags ->> 'team'
                    when 'api_key' then coalesce((select k.name from api_keys k where k.id = r.key_id), 'key_' || r.key_id)
                    when 'model' then r.model
                    when 'end_user' then r.end_user
                    when 'provider_key' then name_provider_key(r.provider, r.provider_keys)
                end,
                ''
            ) as name,
            sum(r.cost_usd) as cost_usd
        from usage_records r
        where r.cost_estimated is not null
            and (of_projects is null or r.project_id = any (of_projects))
            and r.recorded_at >= from_time
            and r.recorded_at < until_time
            and (of_key_type is null or (r.key_id in (select test_keys())) = (of_key_type = 'test'))
        group by 1
    ),
    current_costs as materialized (
        select
            coalesce(g.name, e.name) as name, coalesce(g.requests, 0) as requests, coalesce(g.hits, 0) as hits, coalesce(g.misses, 0) as misses,
            coalesce(g.cost_usd, 0) as cost_usd, coalesce(e.cost_usd, 0) as estimated_usd, coalesce(g.saved_usd, 0) as saved_usd
        from grouped_costs(of_projects, from_time, until_time, share_by, of_key_type) g
        full join estimated e on e.name = g.name
    ),
    -- Beyond max_rows groups, the previous costs of those that are not listed are read as one.
    previous_costs as materialized (
        select p.name, p.cost_usd
        from grouped_costs(
            of_projects, previous_time, previous_until, share_by, of_key_type,
            case when (select count(*) from current_costs) > max_rows then array(
                select c.name from current_costs c order by c.cost_usd desc, c.requests desc, c.name limit max_rows
            ) end
        ) p
        -- A group that had no costs before, and no requests now, has no row.
        where p.cost_usd <> 0
    ),
    compared as materialized (
        select
            coalesce(c.name, p.name) as name, coalesce(c.requests, 0) as requests, coalesce(c.hits, 0) as hits, coalesce(c.misses, 0) as misses,
            coalesce(c.cost_usd, 0) as cost_usd, coalesce(c.estimated_usd, 0) as estimated_usd, coalesce(c.saved_usd, 0) as saved_usd,
            coalesce(p.cost_usd, 0) as previous_usd
        from current_costs c
        full join previous_costs p on p.name = c.name
    ),
    listed as materialized (
        select c.*
        from compared c
        where c.name is not null
        order by c.cost_usd desc, c.previous_usd desc, c.requests desc, c.name
        limit max_rows
    ),
    leveled as (
        select
            'group' as level, l.name, row_number() over (order by l.cost_usd desc, l.previous_usd desc, l.requests desc, l.name) as place, 1::bigint as shares,
            l.requests, l.hits, l.misses, l.cost_usd, l.estimated_usd, l.saved_usd, l.previous_usd
        from listed l
        union all
        select
            'total', null, null, count(c.name), coalesce(sum(c.requests), 0), coalesce(sum(c.hits), 0), coalesce(sum(c.misses), 0),
            coalesce(sum(c.cost_usd), 0), coalesce(sum(c.estimated_usd), 0), coalesce(sum(c.saved_usd), 0), coalesce(sum(c.previous_usd), 0)
        from compared c
    ),
    -- The total less the listed groups.
    rest as (
        select
            sum(s.sign * l.shares) as shares, sum(s.sign * l.requests) as requests, sum(s.sign * l.hits) as hits, sum(s.sign * l.misses) as misses,
            sum(s.sign * l.cost_usd) as cost_usd, sum(s.sign * l.estimated_usd) as estimated_usd, sum(s.sign * l.saved_usd) as saved_usd,
            sum(s.sign * l.previous_usd) as previous_usd
        from leveled l
        cross join lateral (select case l.level when 'total' then 1 else -1 end as sign) s
    )
    select
        l.level, l.name, l.shares::bigint, l.requests::bigint, l.hits::bigint, l.misses::bigint, l.cost_usd, l.estimated_usd, l.saved_usd, l.previous_usd
    from (
        select * from leveled
        union all
        select
            'rest', null, null, r.shares, r.requests, r.hits, r.misses, r.cost_usd, r.estimated_usd, r.saved_usd, r.previous_usd
        from rest r
        where r.shares > 0
    ) l
    order by l.level, l.place;
$$;

comment on function cost_shares(bigint[], timestamptz, timestamptz, timestamptz, timestamptz, text, text, integer) is
    'Costs in a time by a group of grouped_costs(), most expensive first, with their estimated part and the cost from previous_time to previous_until. level: group (the first max_rows; an empty name: without one), rest (the others together) or total. shares: how many groups a row has; beyond max_rows, end users and provider keys without requests now are not counted. Null: of_projects (all that may be seen), of_key_type (any), name (rest, total).';

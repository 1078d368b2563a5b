create or replace function audit_sums(from_time timestamptz, until_time timestamptz, of_project bigint) returns setof audit_observation
language plpgsql
stable
set search_path = model_proxy, pg_temp
set jit = off
-- Enough memory to group millions of records.
set work_mem = '256MB'
as $$
declare
    first_day constant timestamptz := date_bin('1 day', from_time, 'epoch');
    last_day constant timestamptz := date_bin('1 day', until_time + interval '1 day - 1 microsecond', 'epoch');
    first_month constant timestamptz := date_trunc('month', from_time, 'UTC');
    last_month constant timestamptz := date_trunc('month', until_time - interval '1 microsecond', 'UTC') + interval '1 month';
begin
    return query
    with
    -- The totals of each source by day. Totals weighted by the quarter (by_quarter) and the hour (by_hour) of the day differ if only the
    -- time of usage differs.
    recorded as materialized (
        select
            r.project_id, date_bin('1 day', r.recorded_at, 'epoch') as day, r.key_id, r.model,
            count(*)::float8 as requests, sum(r.cost_usd)::float8 as usd, sum(r.prompt_tokens + r.completion_tokens::bigint)::float8 as tokens,
            sum(t.quarter)::float8 as requests_by_quarter, sum(r.cost_usd * t.quarter)::float8 as usd_by_quarter,
            (count(*) filter (where r.tags is not null))::float8 as tagged,
            count(r.end_user)::float8 as named, coalesce(sum(r.cost_usd) filter (where r.end_user is not null), 0)::float8 as named_usd,
            coalesce(sum(r.cost_usd) filter (where r.tags is not null), 0)::float8 as tagged_usd,
            coalesce(sum(t.quarter / 4) filter (where r.tags is not null), 0)::float8 as tagged_by_hour
        from usage_records r
        cross join lateral (select floor(date_part('epoch', r.recorded_at) / 900)::bigint % 96 as quarter) t
        where r.recorded_at >= first_day
            and r.recorded_at < last_day
            and (of_project is null or r.project_id = of_project)
        group by 1, 2, 3, 4
    ),
    summed as materialized (
        select
            s.grain, s.project_id, date_bin('1 day', s.at, 'epoch') as day, s.key_id, s.model,
            sum(s.requests)::float8 as requests, sum(s.cost_usd)::float8 as usd, sum(s.prompt_tokens + s.completion_tokens)::float8 as tokens,
            sum(s.requests * t.quarter)::float8 as requests_by_quarter, sum(s.cost_usd * t.quarter)::float8 as usd_by_quarter,
            sum(s.requests * (t.quarter / 4))::float8 as requests_by_hour, sum(s.cost_usd * (t.quarter / 4))::float8 as usd_by_hour
        from usage_sums s
        cross join lateral (select (date_part('epoch', s.at) / 900)::bigint % 96 as quarter) t
        where s.grain in ('quarter', 'hour', 'day')
            and s.at >= first_day
            and s.at < last_day
            and (of_project is null or s.project_id = of_project)
        group by 1, 2, 3, 4, 5
    ),
    pending as materialized (
        select
            u.project_id, date_bin('1 day', u.at, 'epoch') as day, u.key_id, u.model, u.requests, u.cost_usd as usd,
            u.prompt_tokens + u.completion_tokens as tokens, t.quarter, u.tags is not null as is_tagged, u.end_user is not null as is_named
        from usage_pending u
        cross join lateral (select (date_part('epoch', u.at) / 900)::bigint % 96 as quarter) t
        where u.at >= first_day
            and u.at < last_day
            and (of_project is null or u.project_id = of_project)
    ),
    -- side: 1 for expected values, -1 for actual values. Each cost was rounded to nine digits, as was the sum of each batch (roundings).
    sides (kind, grain, project_id, at, key_id, model, side, requests, usd, tokens, requests_by_time, usd_by_time, roundings) as (
        select
            'sums_differ', 'quarter', r.project_id, r.day, r.key_id, r.model, 1, r.requests, r.usd, r.tokens, r.requests_by_quarter, r.usd_by_quarter,
            r.requests
        from recorded r
        union all
        select
            'sums_differ', 'quarter', s.project_id, s.day, s.key_id, s.model, -1, s.requests, s.usd, s.tokens, s.requests_by_quarter, s.usd_by_quarter,
            s.requests
        from summed s
        where s.grain = 'quarter'
            and s.project_id > 0
        union all
        select
            'sums_differ', 'quarter', p.project_id, p.day, p.key_id, p.model, -1, p.requests, p.usd, p.tokens, p.requests * p.quarter, p.usd * p.quarter,
            p.requests
        from pending p
        union all
        select
            'grains_differ', g.grain, s.project_id, s.day, s.key_id, s.model, g.side, s.requests, s.usd, s.tokens,
            case g.grain when 'hour' then s.requests_by_hour else 0 end, case g.grain when 'hour' then s.usd_by_hour else 0 end, 0
        from summed s
        join (
            values ('quarter', 'hour', 1), ('hour', 'hour', -1), ('hour', 'day', 1), ('day', 'day', -1)
        ) as g (of_grain, grain, side) on g.of_grain = s.grain
        union all
        -- The days of a month add up to the month.
        select
            'grains_differ', 'month', s.project_id, date_trunc('month', s.at, 'UTC'), s.key_id, s.model, case s.grain when 'day' then 1 else -1 end,
            s.requests, s.cost_usd, s.prompt_tokens + s.completion_tokens, 0, 0, 0
        from usage_sums s
        where s.grain in ('day', 'month')
            and s.at >= first_month
            and s.at < last_month
            and (of_project is null or s.project_id = of_project)
        union all
        -- The sums of all projects together, and of each project, by type of key, equal the sums over the keys.
        select
            'total_differs', s.grain, o.project_id, s.day, k.key_id, '', case when s.project_id > 0 then 1 else -1 end, sum(s.requests), sum(s.usd),
            sum(s.tokens), sum(s.requests_by_quarter), sum(s.usd_by_quarter), 0
        from summed s
        left join api_keys a on a.id = s.key_id
        cross join lateral (select case when s.project_id > 0 then key_type_id(a.type) else s.key_id end as key_id) k
        cross join lateral unnest(case when s.project_id > 0 then array[0, s.project_id] else array[-s.project_id] end) as o (project_id)
        where of_project is null
        group by s.grain, s.day, s.project_id, o.project_id, k.key_id
        union all
        select
            'total_differs', t.grain, 0, date_trunc('month', t.at, 'UTC'), 0, 'tags', case when t.project_id > 0 then 1 else -1 end,
            t.requests, t.cost_usd, t.prompt_tokens + t.completion_tokens, 0, 0, 0
        from usage_sums_by_tag t
        where of_project is null
            and t.at >= first_month
            and t.at < last_month
        union all
        select 'latency_counts_differ', s.grain, s.project_id, s.day, 0, '', 1, sum(s.requests), 0, 0, sum(s.requests_by_quarter), 0, 0
        from summed s
        where s.project_id >= 0
        group by s.grain, s.project_id, s.day
        union all
        select
            'latency_counts_differ', c.grain, c.project_id, date_bin('1 day', c.at, 'epoch'), 0, '', -1, sum(c.requests), 0, 0,
            sum(c.requests * ((date_part('epoch', c.at) / 900)::bigint % 96)), 0, 0
        from latency_counts c
        where c.grain in ('quarter', 'hour', 'day')
            and c.at >= first_day
            and c.at < last_day
            and (of_project is null or c.project_id = of_project)
        group by c.grain, c.project_id, date_bin('1 day', c.at, 'epoch')
        union all
        select 'tagged_sums_differ', 'hour', r.project_id, r.day, 0, '', 1, r.tagged, r.tagged_usd, 0, r.tagged_by_hour, 0, r.tagged
        from recorded r
        where r.tagged > 0
        union all
        select 'tagged_sums_differ', 'hour', p.project_id, p.day, 0, '', -1, p.requests, p.usd, 0, p.requests * (p.quarter / 4), 0, p.requests
        from pending p
        where p.is_tagged
        union all
        select
            'tagged_sums_differ', 'hour', t.project_id, date_bin('1 day', t.at, 'epoch'), 0, '', -1, t.requests, t.cost_usd, 0,
            t.requests * ((date_part('epoch', t.at) / 3600)::bigint % 24), 0, t.requests
        from usage_sums_by_tag t
        where t.grain = 'hour'
            and t.project_id > 0
            and t.at >= first_day
            and t.at < last_day
            and (of_project is null or t.project_id = of_project)
        union all
        select 'sums_differ', 'day', r.project_id, r.day, 0, 'end users', 1, r.named, r.named_usd, 0, 0, 0, r.named from recorded r where r.named > 0
        union all
        select 'sums_differ', 'day', p.project_id, p.day, 0, 'end users', -1, p.requests, p.usd, 0, 0, 0, p.requests from pending p where p.is_named
        union all
        select 'sums_differ', 'day', n.project_id, n.at, 0, 'end users', -1, n.requests, n.cost_usd, 0, 0, 0, n.requests
        from usage_sums_by_name n
        where n.kind = 'end_user'
            and n.grain = 'day'
            and n.at >= first_day
            and n.at < last_day
            and (of_project is null or n.project_id = of_project)
        union all
        select
            'grains_differ', g.grain, n.project_id, date_trunc('month', n.at, 'UTC'), 0, n.kind, g.side, n.requests, n.cost_usd, n.tokens, 0, 0, 0
        from usage_sums_by_name n
        join (
            values ('hour', 'day', 1), ('day', 'day', -1), ('day', 'third', 1), ('third', 'third', -1), ('third', 'month', 1), ('month', 'month', -1)
        ) as g (of_grain, grain, side) on g.of_grain = n.grain
        -- Only tags have sums by the hour.
        where (n.kind = 'tag' or g.grain <> 'day')
            and n.at >= first_month
            and n.at < last_month
            and (of_project is null or n.project_id = of_project)
        union all
        -- The sums by tag equal the sums over the sets that contain the tag.
        select
            'tagged_sums_differ', t.grain, t.project_id, date_trunc('month', t.at, 'UTC'), 0, 'values', 1, t.requests, t.cost_usd,
            t.prompt_tokens + t.completion_tokens, 0, 0, 0
        from usage_sums_by_tag t
        cross join jsonb_object_keys(t.tags)
        where t.at >= first_month
            and t.at < last_month
            and (of_project is null or t.project_id = of_project)
        union all
        select
            'tagged_sums_differ', v.grain, v.project_id, date_trunc('month', v.at, 'UTC'), 0, 'values', -1, v.requests, v.cost_usd, v.tokens, 0, 0, 0
        from usage_sums_by_name v
        where v.kind = 'tag'
            and v.grain <> 'third'
            and v.at >= first_month
            and v.at < last_month
            and (of_project is null or v.project_id = of_project)
        union all
        select
            'grains_differ', g.grain, t.project_id, date_trunc('month', t.at, 'UTC'), 0, '', g.side,
            t.requests, t.cost_usd, t.prompt_tokens + t.completion_tokens, 0, 0, 0
        from usage_sums_by_tag t
        join (values ('hour', 'day', 1), ('day', 'day', -1), ('day', 'month', 1), ('month', 'month', -1)) as g (of_grain, grain, side) on g.of_grain = t.grain
        where t.at >= first_month
            and t.at < last_month
            and (of_project is null or t.project_id = of_project)
    ),
    differing as (
        select
            s.kind, s.grain, s.project_id, s.at, s.key_id, s.model,
            -- The expected sums, and by how much the actual sums are lower.
            sum(s.requests) filter (where s.side = 1) as requests, sum(s.side * s.requests) as requests_less,
            sum(s.tokens) filter (where s.side = 1) as tokens, sum(s.side * s.tokens) as tokens_less,
            sum(s.usd) filter (where s.side = 1) as usd, sum(s.side * s.usd) as usd_less,
            1e-9 * (sum(s.roundings) + 1) + 1e-12 * sum(s.usd) as rounding
        from sides s
        group by s.kind, s.grain, s.project_id, s.at, s.key_id, s.model
        having sum(s.side * s.requests) <> 0
            or sum(s.side * s.tokens) <> 0
            or sum(s.side * s.requests_by_time) <> 0
            or abs(sum(s.side * s.usd)) > 1e-9 * (sum(s.roundings) + 1) + 1e-12 * sum(s.usd)
            or abs(sum(s.side * s.usd_by_time)) > 96 * (1e-9 * (sum(s.roundings) + 1) + 1e-12 * sum(s.usd))
    )
    select
        d.kind, case when d.project_id > 0 then d.project_id end, nullif(d.key_id, 0), d.at,
        concat_ws(' of ', case d.kind when 'latency_counts_differ' then 'latency by the ' else 'sums by the ' end || d.grain, nullif(d.model, '')),
        format(
            '%s requests, %s tokens, %s US dollars%s', coalesce(d.requests, 0), coalesce(d.tokens, 0), trim_scale(coalesce(d.usd, 0)::numeric(18, 9)),
            case when d.requests_less = 0 and d.tokens_less = 0 and abs(d.usd_less) <= d.rounding then ', at other times of the day' end
        ),
        format(
            '%s requests, %s tokens, %s US dollars', coalesce(d.requests, 0) - d.requests_less, coalesce(d.tokens, 0) - d.tokens_less,
            trim_scale((coalesce(d.usd, 0) - d.usd_less)::numeric(18, 9))
        )
    from differing d;
end;
$$;

comment on function audit_sums(timestamptz, timestamptz, bigint) is
    'Compares sums and latency counts with records, and those of each grain with those of the next, by whole UTC days. Null: of_project (all).';

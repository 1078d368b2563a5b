create or replace function nearest_limits(of_project bigint, max_rows integer) returns setof nearest_limit
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    with of_minute as materialized (
        select r.key_id, count(*) as requests, sum(r.prompt_tokens + r.completion_tokens) as tokens
        from usage_records r
        where r.project_id = of_project
            and r.recorded_at > now() - interval '1 minute'
            and r.recorded_at <= now()
            -- Rejected requests are not counted, nor are responses of a batch or a session.
            and (r.provider is not null or r.cache_result is not null)
            and r.endpoint not in ('batches', 'message_batches', 'realtime')
        group by r.key_id
    ),
    limits as (
        select
            'monthly_requests' as kind, q.keys as key_type, null::bigint as key_id, null as key_name, null::bigint as budget_id,
            null as model, null as tag, null as per, 'requests' as unit, q.used::numeric as used, q.quota::numeric as amount,
            ((current_month() + interval '1 month') at time zone 'UTC') as resets_at, true as is_of_plan, false as is_of_organization
        from projects p
        cross join lateral quota_usage(p.name, current_month()) q
        where p.id = of_project
        union all
        select
            l.kind, null, k.id, k.name, null, null, null, null, l.unit, coalesce(l.used, 0), l.amount, null, l.is_of_plan, false
        from projects p
        join plans pl on pl.name = p.plan
        join api_keys k on k.project_id = p.id
        left join of_minute m on m.key_id = k.id
        cross join lateral (
            select
                case k.type when 'test' then pl.test_requests_per_minute else pl.requests_per_minute_per_key end as requests,
                case k.type when 'project' then pl.tokens_per_minute_per_key end as tokens
        ) o
        cross join lateral (values
            ('requests_per_minute', 'requests', m.requests::numeric, least(k.requests_per_minute, o.requests), coalesce(k.requests_per_minute > o.requests, true)),
            (
                'tokens_per_minute', 'tokens', m.tokens::numeric,
                case k.type when 'project' then least(k.tokens_per_minute, o.tokens) end, coalesce(k.tokens_per_minute > o.tokens, k.tokens_per_minute is null)
            )
        ) as l (kind, unit, used, amount, is_of_plan)
        where p.id = of_project
            and k.deactivated_at is null
            and (k.expires_at is null or k.expires_at > now())
            and k.replaced_by is null
            and k.session_id is null
            and l.amount is not null
        union all
        select
            'budget', null, b.key_id, k.name, b.id, b.model, (select min(t.key || '=' || t.value) from jsonb_each_text(b.tag) t), b.per, b.unit,
            coalesce(c.spent, 0) + coalesce(c.reserved, 0), b.amount, nullif(p.ends, 'infinity'), false, b.project_id is null
        from budgets b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) p
        left join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        left join api_keys k on k.id = b.key_id
        -- Row-level security shows the budgets of the organization to administrators only.
        where (b.project_id = of_project or b.project_id is null)
            and b.enforced
    )
    select
        l.kind, l.key_type, 'key_' || l.key_id, l.key_name, 'budget_' || l.budget_id, l.model, l.tag, l.per, l.unit, l.used, l.amount,
        coalesce(l.used / nullif(l.amount, 0), 1)::double precision, to_unix_seconds(l.resets_at), l.is_of_plan, l.is_of_organization
    from limits l
    order by coalesce(l.used / nullif(l.amount, 0), 1) desc, l.kind, l.key_id nulls first, l.budget_id, l.key_type
    limit max_rows;
$$;

comment on function nearest_limits(bigint, integer) is
    'The limits of a project, of which the largest share is used first, at most that many: monthly quotas, requests and tokens per minute of each active key, budgets of the project, and those of the organization for administrators.';

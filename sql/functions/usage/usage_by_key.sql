create or replace function usage_by_key(of_keys bigint[], from_time timestamptz, until_time timestamptz, width text, zone text)
returns table (
    bucket_start timestamptz,
    model text,
    cache_result text,
    status_class smallint,
    requests bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    tokens_saved bigint,
    cost_usd numeric,
    saved_usd numeric,
    duration_ms double precision
)
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take ten times as long as the query.
set jit = off
as $$
    with pieces as materialized (
        select p.* from split_usage_range(from_time, until_time, width, zone) p
    ),
    wanted as materialized (
        select k.id, k.project_id, k.created_at - interval '1 hour' as since, k.last_used_at + interval '1 hour' as until
        from api_keys k
        where k.id = any (of_keys)
    ),
    -- Each sum is found by the full key of its index. A branch of usage_in_range() for this would also be planned for every partition,
    -- which takes as long as the rest of an overview.
    times as materialized (
        select w.grain, w.counted_at, w.middle, w.sign, t.utc at time zone 'UTC' as at
        from pieces w
        cross join lateral generate_series(
            w.begins at time zone 'UTC',
            (w.ends - interval '1 microsecond') at time zone 'UTC',
            case w.grain when 'quarter' then interval '15 minutes' else ('1 ' || w.grain)::interval end
        ) as t (utc)
        where w.grain <> 'record'
    ),
    counted (
        at, sign, model, cache_result, status_class, requests, prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, duration_ms
    ) as (
        select
            coalesce(t.counted_at, t.at + t.middle), t.sign, u.model, u.cache_result, u.status_class, u.requests, u.prompt_tokens,
            u.completion_tokens, u.tokens_saved, u.cost_usd, u.saved_usd, u.duration_ms
        from times t
        -- Only the time in which the key was in use: the Playground has many keys, which live for a day.
        join wanted k on t.at < k.until and t.at + interval '31 days' > k.since
        cross join lateral (
            select x.* from usage_sums x where x.project_id = k.project_id and x.grain = t.grain and x.at = t.at and x.key_id = k.id offset 0
        ) u
        union all
        select
            coalesce(w.counted_at, u.at), w.sign, u.model, u.cache_result, u.status_class, u.requests, u.prompt_tokens, u.completion_tokens,
            u.tokens_saved, u.cost_usd, u.saved_usd, u.duration_ms
        from (select distinct k.project_id from wanted k) p
        join pieces w on w.grain = 'record'
        cross join lateral (
            select x.* from usage_per_record x where x.project_id = p.project_id and x.at >= w.begins and x.at < w.ends offset 0
        ) u
        where u.key_id in (select k.id from wanted k)
        union all
        select
            p.at, w.sign, p.model, p.cache_result, p.status_class, p.requests, p.prompt_tokens, p.completion_tokens, p.tokens_saved, p.cost_usd,
            p.saved_usd, p.duration_ms
        from usage_pending p
        join pieces w on w.grain <> 'record' and w.counted_at is null and p.at >= w.begins and p.at < w.ends
        where p.key_id in (select k.id from wanted k)
    )
    select
        case width when 'all' then from_time else date_trunc(width, c.at, zone) end, c.model, c.cache_result, c.status_class, sum(c.sign * c.requests)::bigint, sum(c.sign * c.prompt_tokens)::bigint,
        sum(c.sign * c.completion_tokens)::bigint, sum(c.sign * c.tokens_saved)::bigint, sum(c.sign * c.cost_usd), sum(c.sign * c.saved_usd), sum(c.sign * c.duration_ms)
    from counted c
    group by 1, 2, 3, 4;
$$;

comment on function usage_by_key(bigint[], timestamptz, timestamptz, text, text) is
    'As usage_in_range(), for these keys only. Fast for few keys, however many others exist. width: hour, day or month; all: one bucket.';

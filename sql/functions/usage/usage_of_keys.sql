create or replace function usage_of_keys(of_keys bigint[], from_time timestamptz, until_time timestamptz, width text, zone text)
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
        select p.begins, p.ends, p.grain, p.counted_at, p.sign from usage_pieces(from_time, until_time, width, zone) p
    ),
    wanted as materialized (
        select k.id, k.project_id, k.created_at - interval '1 hour' as since, k.last_used_at + interval '1 hour' as until
        from api_keys k
        where k.id = any (of_keys)
    ),
    -- Each sum is found by the whole of its key in the index.
    times as materialized (
        select w.grain, t.at, w.sign, coalesce(w.counted_at, t.at + case w.grain when 'month' then interval '14 days' when 'day' then interval '12 hours' else interval '0' end) as counted_at
        from pieces w
        cross join lateral generate_series(
            w.begins,
            w.ends - interval '1 microsecond',
            case w.grain when 'month' then interval '31 days' when 'day' then interval '24 hours' when 'hour' then interval '1 hour' else interval '15 minutes' end
        ) as t (at)
        where w.grain <> 'record'
    ),
    counted (
        at, model, cache_result, status_class, requests, prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, duration_ms
    ) as (
        select
            t.counted_at, u.model, u.cache_result, u.status_class, t.sign * u.requests, t.sign * u.prompt_tokens, t.sign * u.completion_tokens,
            t.sign * u.tokens_saved, t.sign * u.cost_usd, t.sign * u.saved_usd, t.sign * u.duration_ms
        from times t
        -- Only while the key was in use: the Playground's keys live for a day, and there are many.
        join wanted k on t.at < k.until and t.at + interval '31 days' > k.since
        cross join lateral (
            select x.* from usage_sums x where x.project_id = k.project_id and x.grain = t.grain and x.at = t.at and x.key_id = k.id offset 0
        ) u
        union all
        select
            coalesce(w.counted_at, r.recorded_at), r.model, coalesce(r.cache_result, ''), (r.status / 100)::smallint, w.sign, w.sign * r.prompt_tokens,
            w.sign * r.completion_tokens, w.sign * r.tokens_saved, w.sign * r.cost_usd, w.sign * r.saved_usd, w.sign * r.duration_ms
        from (select distinct k.project_id from wanted k) p
        join pieces w on w.grain = 'record'
        cross join lateral (
            select x.* from usage_records x where x.project_id = p.project_id and x.recorded_at >= w.begins and x.recorded_at < w.ends offset 0
        ) r
        where r.key_id in (select k.id from wanted k)
        union all
        select
            p.at, p.model, p.cache_result, p.status_class, p.requests, p.prompt_tokens, p.completion_tokens, p.tokens_saved, p.cost_usd, p.saved_usd,
            p.duration_ms
        from usage_pending p
        where p.key_id in (select k.id from wanted k)
            and p.at >= from_time
            and p.at + interval '15 minutes' <= until_time
    )
    select
        date_trunc(width, c.at, zone), c.model, c.cache_result, c.status_class, sum(c.requests)::bigint, sum(c.prompt_tokens)::bigint,
        sum(c.completion_tokens)::bigint, sum(c.tokens_saved)::bigint, sum(c.cost_usd), sum(c.saved_usd), sum(c.duration_ms)
    from counted c
    group by 1, 2, 3, 4;
$$;

comment on function usage_of_keys(bigint[], timestamptz, timestamptz, text, text) is
    'As usage_within(), of these keys alone: quick where they are few, however many others there are. width: hour, day or month.';

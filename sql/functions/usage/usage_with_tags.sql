create or replace function usage_with_tags(of_projects bigint[], from_time timestamptz, until_time timestamptz)
returns setof usage_tagged
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    with span as (
        select
            greatest(from_time, now() - interval '430 days') as begins,
            until_time as ends,
            date_bin('1 hour', from_time + interval '1 hour - 1 microsecond', 'epoch') as first,
            date_bin('1 hour', until_time, 'epoch') as last
    ),
    seen as materialized (
        select p.id from projects p where of_projects is null or p.id = any (of_projects)
    )
    -- One index range after the other, as in usage_within().
    select u.*
    from span s
    cross join seen
    cross join lateral (
        select x.* from usage_tagged x where x.project_id = seen.id and x.at >= s.first and x.at < s.last offset 0
    ) u
    union all
    select
        p.project_id, p.at, p.tags, p.key_id, p.endpoint, p.model, p.requests,
        case when p.cache_result in ('HIT', 'HIT-SEMANTIC') then p.requests else 0 end,
        case when p.status_class >= 4 then p.requests else 0 end,
        p.prompt_tokens, p.cached_prompt_tokens, p.completion_tokens, p.tokens_saved, p.cost_usd, p.saved_usd
    from span s
    join usage_pending p on p.at >= s.first and p.at < s.last
    where p.tags is not null
        and p.project_id in (select seen.id from seen)
    union all
    -- What the two ends cut off whole hours.
    select
        r.project_id, r.recorded_at, r.tags, r.key_id, r.endpoint, r.model, 1, (coalesce(r.cache_result in ('HIT', 'HIT-SEMANTIC'), false))::integer,
        (r.status >= 400)::integer, r.prompt_tokens, r.cached_prompt_tokens, r.completion_tokens, r.tokens_saved, r.cost_usd, r.saved_usd
    from span s
    cross join lateral (
        values (s.begins, least(s.first, s.ends)), (greatest(s.last, s.first), s.ends)
    ) as cut (begins, ends)
    cross join seen
    cross join lateral (
        select x.* from usage_records x where x.project_id = seen.id and x.recorded_at >= cut.begins and x.recorded_at < cut.ends offset 0
    ) r
    where r.tags is not null;
$$;

comment on function usage_with_tags(bigint[], timestamptz, timestamptz) is
    'Usage with tags of some or all projects that the current user may see, in a time: sums of whole hours, and single records at the ends that cut one.';

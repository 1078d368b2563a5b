create or replace function usage_shares(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    share_by text,
    of_model text,
    of_key bigint,
    of_key_type text,
    ordered_by text,
    max_rows integer
)
returns setof usage_share
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take ten times as long as the query.
set jit = off
as $$
    with shares (name, requests, hits, misses, failed, tokens, cost_usd, saved_usd) as (
        select
            case share_by
                when 'model' then h.model
                when 'provider' then h.provider
                when 'api_key' then coalesce((select k.name from api_keys k where k.id = h.key_id), 'key_' || h.key_id)
            end,
            sum(h.requests)::bigint,
            coalesce(sum(h.requests) filter (where h.cache_result in ('HIT', 'HIT-SEMANTIC')), 0)::bigint,
            coalesce(sum(h.requests) filter (where h.cache_result = 'MISS'), 0)::bigint,
            coalesce(sum(h.requests) filter (where h.status_class >= 4), 0)::bigint,
            (sum(h.prompt_tokens) + sum(h.completion_tokens))::bigint,
            sum(h.cost_usd),
            sum(h.saved_usd)
        from (
            select u.model, u.provider, u.key_id, u.cache_result, u.status_class, sum(u.requests) as requests,
                sum(u.prompt_tokens) as prompt_tokens, sum(u.completion_tokens) as completion_tokens,
                sum(u.cost_usd) as cost_usd, sum(u.saved_usd) as saved_usd
            from usage_in_range(
                coalesce(of_projects, case when of_key is not null then array(select k.project_id from api_keys k where k.id = of_key) end),
                from_time,
                until_time,
                'all',
                'UTC',
                choose_usage_sums(of_projects, share_by = 'api_key' or of_key is not null, share_by <> 'api_key' or of_model is not null),
                share_by = 'api_key' or of_key is not null,
                share_by <> 'api_key' or of_model is not null
            ) u
            where (of_model is null or u.model = of_model)
                and (of_key is null or u.key_id = of_key)
                and (of_key_type is null or (u.key_id in (select test_keys())) = (of_key_type = 'test'))
            group by 1, 2, 3, 4, 5
        ) h
        where share_by <> 'tag'
        group by 1
        union all
        select t.name, t.requests, t.hits, t.misses, t.failed, t.prompt_tokens + t.completion_tokens, t.cost_usd, t.saved_usd
        from usage_by_tag(of_projects, from_time, until_time, '{}', of_model, of_key, of_key_type, '{tag}', 'all', 'UTC', ordered_by) t
        where share_by = 'tag'
            and (of_model is not null or of_key is not null)
        union all
        select t.*
        from name_shares(of_projects, from_time, until_time, of_key_type, 'tag') t
        where share_by = 'tag'
            and of_model is null
            and of_key is null
    )
    select s.name, s.requests, s.hits, s.misses, s.failed, s.tokens, s.cost_usd, s.saved_usd
    from shares s
    order by share_measure(ordered_by, s.requests, s.failed, s.tokens, s.cost_usd) desc, s.name
    limit max_rows;
$$;

comment on function usage_shares(bigint[], timestamptz, timestamptz, text, text, bigint, text, text, integer) is
    'The usage of models, providers, API keys or tags (share_by: model, provider, api_key, tag) in a time: the first max_rows, in the order of share_measure(); tags of one model or key are at most twenty. Of one model, key or type of keys (project, test), or of all. Null: of_projects, of_model, of_key, of_key_type (any), max_rows (all).';

create or replace function usage_shares(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    share_by text,
    of_model text,
    of_key bigint,
    of_key_type text
)
returns setof usage_share
language sql
stable
set search_path = model_proxy, pg_temp
-- JIT compilation would take ten times as long as the query.
set jit = off
as $$
    select
        case share_by
            when 'model' then h.model
            when 'provider' then h.provider
            when 'api_key' then coalesce((select k.name from api_keys k where k.id = h.key_id), 'key_' || h.key_id)
        end,
        sum(h.requests)::bigint,
        coalesce(sum(h.requests) filter (where h.cache_result in ('HIT', 'HIT-SEMANTIC')), 0)::bigint,
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
            choose_usage_sums(of_projects, share_by = 'api_key' or of_key is not null, share_by <> 'api_key' or of_model is not null)
        ) u
        where (of_model is null or u.model = of_model)
            and (of_key is null or u.key_id = of_key)
            and (of_key_type is null or (u.key_id in (select test_keys())) = (of_key_type = 'test'))
        group by 1, 2, 3, 4, 5
    ) h
    where share_by <> 'tag'
    group by 1
    union all
    select t.name, t.requests, t.hits, t.failed, t.prompt_tokens + t.completion_tokens, t.cost_usd, t.saved_usd
    from usage_by_tag(of_projects, from_time, until_time, '{}', of_model, of_key, of_key_type, '{tag}', 'all', 'UTC') t
    where share_by = 'tag'
        and (of_model is not null or of_key is not null)
    union all
    select * from tag_shares(of_projects, from_time, until_time, of_key_type) where share_by = 'tag' and of_model is null and of_key is null
    order by 2 desc, 1
    limit 20;
$$;

comment on function usage_shares(bigint[], timestamptz, timestamptz, text, text, bigint, text) is 'The twenty most used models, providers, API keys or tags (share_by: model, provider, api_key, tag) in a time; of one model, key or type of keys (project, test), or of all. Null: of_projects, of_model, of_key, of_key_type (any).';

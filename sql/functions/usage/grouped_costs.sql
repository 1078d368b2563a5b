create or replace function grouped_costs(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    share_by text,
    of_key_type text,
    of_names text[] default null
)
returns setof usage_share
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    with named (name, requests, hits, misses, failed, tokens, cost_usd, saved_usd) as materialized (
        select substr(n.name, case share_by when 'team' then length('team=') else 0 end + 1), n.requests, n.hits, n.misses, n.failed, n.tokens, n.cost_usd, n.saved_usd
        from name_shares(
            of_projects, from_time, until_time, of_key_type, case share_by when 'team' then 'tag' else share_by end,
            case share_by when 'team' then 'team=' else '' end, of_names
        ) n
        where share_by not in ('model', 'api_key')
    )
    select s.*
    from usage_shares(of_projects, from_time, until_time, share_by, null, null, of_key_type, 'cost', null) s
    where share_by in ('model', 'api_key')
    union all
    select n.* from named n
    union all
    -- All requests less those with a name are the requests without one.
    select
        '', u.requests - n.requests, greatest(0, u.exact_hits + u.semantic_hits - n.hits), greatest(0, u.misses - n.misses),
        greatest(0, u.client_errors + u.server_errors - n.failed), greatest(0, u.prompt_tokens + u.completion_tokens - n.tokens), u.cost_usd - n.cost_usd,
        u.saved_usd - n.saved_usd
    from (
        select o.*
        from usage_overview(of_projects, from_time, until_time, 'all', 'UTC', null, null, of_key_type) o
        where share_by not in ('model', 'api_key')
    ) u
    cross join (
        select
            coalesce(sum(x.requests), 0)::bigint as requests, coalesce(sum(x.hits), 0)::bigint as hits, coalesce(sum(x.misses), 0)::bigint as misses,
            coalesce(sum(x.failed), 0)::bigint as failed, coalesce(sum(x.tokens), 0)::bigint as tokens, coalesce(sum(x.cost_usd), 0) as cost_usd,
            coalesce(sum(x.saved_usd), 0) as saved_usd
        from named x
    ) n
    where u.requests > n.requests;
$$;

comment on function grouped_costs(bigint[], timestamptz, timestamptz, text, text, text[]) is
    'All usage in a time by team (the tag team), API key, model, end user or provider key (share_by: team, api_key, model, end_user, provider_key), in no order: the rows add up to all requests. Empty name: without a team, and so on. With of_names, all other end users, or provider keys, are one row. Null: of_projects (all that may be seen), of_key_type (any), of_names (all), name (others).';

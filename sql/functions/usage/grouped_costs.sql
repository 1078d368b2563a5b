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
    with all_models as materialized (
        select s.*
        from usage_shares(of_projects, from_time, until_time, 'model', null, null, of_key_type, 'cost', null) s
        where share_by <> 'api_key'
    ),
    named (name, requests, hits, misses, failed, tokens, cost_usd, saved_usd) as materialized (
        select substr(t.name, length('team=') + 1), t.requests, t.hits, t.misses, t.failed, t.tokens, t.cost_usd, t.saved_usd
        from tag_shares(of_projects, from_time, until_time, of_key_type, 'team', 'cost', null) t
        where share_by = 'team'
        union all
        select n.* from name_shares(of_projects, from_time, until_time, of_key_type, share_by, of_names) n where share_by in ('end_user', 'provider_key')
    )
    select m.* from all_models m where share_by = 'model'
    union all
    select k.*
    from usage_shares(of_projects, from_time, until_time, 'api_key', null, null, of_key_type, 'cost', null) k
    where share_by = 'api_key'
    union all
    select n.* from named n
    union all
    -- All requests less those with a name are the requests without one.
    select
        '', sum(u.sign * u.requests)::bigint, sum(u.sign * u.hits)::bigint, sum(u.sign * u.misses)::bigint, sum(u.sign * u.failed)::bigint,
        sum(u.sign * u.tokens)::bigint, sum(u.sign * u.cost_usd), sum(u.sign * u.saved_usd)
    from (
        select 1 as sign, m.* from all_models m where share_by not in ('model', 'api_key')
        union all
        select -1, n.* from named n
    ) u
    having sum(u.sign * u.requests) <> 0;
$$;

comment on function grouped_costs(bigint[], timestamptz, timestamptz, text, text, text[]) is
    'All usage in a time by team (the tag team), API key, model, end user or provider key (share_by: team, api_key, model, end_user, provider_key), in no order: the rows add up to all requests. Empty name: without a team, and so on. With of_names, all other end users, or provider keys, are one row. Null: of_projects (all that may be seen), of_key_type (any), of_names (all), name (others).';

create or replace function record_shares(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    share_by text,
    of_key_type text,
    is_estimated boolean
)
returns setof usage_share
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
-- Many end users are grouped in memory.
set work_mem = '64MB'
as $$
    select
        coalesce(
            case share_by
                when 'team' then r.tags ->> 'team'
                when 'api_key' then coalesce((select k.name from api_keys k where k.id = r.key_id), 'key_' || r.key_id)
                when 'model' then r.model
                when 'end_user' then r.end_user
                -- The last of the keys that were called, without the status of a rejected one.
                when 'provider_key' then r.provider || coalesce(': ' || regexp_replace(r.provider_keys, '^.*, | [0-9]{3}$', '', 'g'), '')
            end,
            ''
        ),
        count(*),
        count(*) filter (where r.cache_result in ('HIT', 'HIT-SEMANTIC')),
        count(*) filter (where r.cache_result = 'MISS'),
        count(*) filter (where r.status >= 400),
        sum(r.prompt_tokens + r.completion_tokens::bigint)::bigint,
        sum(r.cost_usd),
        sum(r.saved_usd)
    from (
        -- Two branches, so that each has the index that fits: only one is executed.
        select x.*
        from usage_records x
        where is_estimated
            and x.cost_estimated is not null
            and (of_projects is null or x.project_id = any (of_projects))
            and x.recorded_at >= from_time
            and x.recorded_at < until_time
        union all
        select x.*
        from usage_records x
        where not is_estimated
            and (of_projects is null or x.project_id = any (of_projects))
            and x.recorded_at >= from_time
            and x.recorded_at < until_time
    ) r
    where of_key_type is null
        or (r.key_id in (select test_keys())) = (of_key_type = 'test')
    group by 1;
$$;

comment on function record_shares(bigint[], timestamptz, timestamptz, text, text, boolean) is
    'Usage in a time by what no sums have, read from single records: by end user or provider key (share_by: end_user, provider_key), or the estimated costs of any group of cost_shares() (is_estimated). Empty name: without. Null: of_projects (all that may be seen), of_key_type (any).';

create or replace function estimated_shares(
    of_projects bigint[],
    from_time timestamptz,
    until_time timestamptz,
    share_by text,
    of_key_type text
)
returns setof usage_share
language sql
stable
set search_path = model_proxy, pg_temp
set jit = off
as $$
    select
        coalesce(
            case share_by
                when 'team' then r.tags ->> 'team'
                when 'api_key' then coalesce((select k.name from api_keys k where k.id = r.key_id), 'key_' || r.key_id)
                when 'model' then r.model
                when 'end_user' then r.end_user
                when 'provider_key' then name_provider_key(r.provider, r.provider_keys)
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
    from usage_records r
    where r.cost_estimated is not null
        and (of_projects is null or r.project_id = any (of_projects))
        and r.recorded_at >= from_time
        and r.recorded_at < until_time
        and (of_key_type is null or (r.key_id in (select test_keys())) = (of_key_type = 'test'))
    group by 1;
$$;

comment on function estimated_shares(bigint[], timestamptz, timestamptz, text, text) is
    'The requests with estimated costs in a time, by a group of cost_shares(). Empty name: without. Null: of_projects (all that may be seen), of_key_type (any).';

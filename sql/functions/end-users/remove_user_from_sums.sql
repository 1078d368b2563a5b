create or replace function remove_user_from_sums(of_project bigint, of_user text) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    removed integer;
begin
    -- The lock keeps roll_up_usage() from adding to these sums.
    perform pg_advisory_xact_lock(hashtext('model_proxy roll_up_usage'));
    with gone as (
        delete from usage_sums_by_tag t
        where t.project_id = of_project
            and t.tags ? 'user_id'
            and t.tags ->> 'user_id' = of_user
        returning t.*
    ),
    -- Adds the amounts to the sums with the remaining tags, of the project and of all projects together, and subtracts them from the sums
    -- of all projects with the tag. Rows without other tags are already in the sums without tags.
    moved as (
        insert into usage_sums_by_tag as s
        select
            p.project_id, g.grain, g.at, p.tags, p.key_id, g.endpoint, g.model, sum(p.sign * g.requests), sum(p.sign * g.hits), sum(p.sign * g.misses),
            sum(p.sign * g.failed),
            sum(p.sign * g.prompt_tokens), sum(p.sign * g.cached_prompt_tokens), sum(p.sign * g.completion_tokens),
            sum(p.sign * g.tokens_saved), sum(p.sign * g.cost_usd), sum(p.sign * g.saved_usd)
        from gone g
        left join api_keys k on k.id = g.key_id
        cross join lateral (
            values
                (g.project_id, g.key_id, g.tags - 'user_id', 1),
                (0, key_type_id(k.type), g.tags - 'user_id', 1),
                (0, key_type_id(k.type), g.tags, -1)
        ) as p (project_id, key_id, tags, sign)
        where p.tags <> '{}'
        group by 1, 2, 3, 4, 5, 6, 7
        on conflict (project_id, grain, at, tags, key_id, endpoint, model) do update
        set requests = s.requests + excluded.requests,
            hits = s.hits + excluded.hits,
            misses = s.misses + excluded.misses,
            failed = s.failed + excluded.failed,
            prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
            cached_prompt_tokens = s.cached_prompt_tokens + excluded.cached_prompt_tokens,
            completion_tokens = s.completion_tokens + excluded.completion_tokens,
            tokens_saved = s.tokens_saved + excluded.tokens_saved,
            cost_usd = s.cost_usd + excluded.cost_usd,
            saved_usd = s.saved_usd + excluded.saved_usd
    )
    select count(*) into removed from gone;
    delete from usage_sums_by_tag t
    where t.project_id = 0
        and t.tags ? 'user_id'
        and t.tags ->> 'user_id' = of_user
        and t.requests = 0;

    with gone as (
        delete from usage_sums_by_name n
        where n.project_id = of_project
            and n.kind = 'tag'
            and n.name = 'user_id=' || of_user
        returning n.*
    ),
    subtracted as (
        update usage_sums_by_name s
        set requests = s.requests - g.requests,
            hits = s.hits - g.hits,
            misses = s.misses - g.misses,
            failed = s.failed - g.failed,
            tokens = s.tokens - g.tokens,
            cost_usd = s.cost_usd - g.cost_usd,
            saved_usd = s.saved_usd - g.saved_usd
        from gone g
        where s.project_id = 0
            and (s.grain, s.kind, s.at, s.name, s.key_type) = (g.grain, g.kind, g.at, g.name, g.key_type)
    )
    select removed + count(*) into removed from gone;
    delete from usage_sums_by_name n
    where n.project_id = 0
        and n.kind = 'tag'
        and n.name = 'user_id=' || of_user
        and n.requests = 0;
    return removed;
end;
$$;

comment on function remove_user_from_sums(bigint, text) is 'Removes the tag user_id of an end user from a project''s sums by tag, and from those of all projects together, and returns how many sums had it. The amounts stay.';

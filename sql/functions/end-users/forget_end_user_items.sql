create or replace function forget_end_user_items(project text, of_user text, of_kind text, at_most integer default 10000) returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id constant bigint := require_project_role(project, 'owner');
    named constant jsonb := jsonb_build_object('user_id', of_user);
    last_time timestamptz;
    ids bigint[];
    forgotten integer := 0;
begin
    perform set_config('synchronous_commit', 'off', true);
    if of_kind in ('answer', 'vector', 'verdict') then
        -- As in invalidate_cache(), with each part: what was still there until now may have been copied anew.
        update projects p set cache_generation = p.cache_generation + 1 where p.id = owner_id;
    end if;

    case of_kind
        when 'record' then
            -- Budgets and reports add up records: the row stays, with what was spent, and names nobody. By time, through the index of end users.
            select max(o.recorded_at) into last_time
            from (
                select r.recorded_at
                from usage_records r
                where r.project_id = owner_id and r.end_user = of_user
                order by r.recorded_at
                limit at_most
            ) o;
            update usage_records r
            set end_user = null,
                error_message = null,
                upstream_message = null,
                tags = case when r.tags @> named then nullif(r.tags - 'user_id', '{}') else r.tags end
            where r.project_id = owner_id
                and r.end_user = of_user
                and r.recorded_at <= last_time;
        when 'content' then
            delete from request_contents c
            using (
                select x.request_id, x.recorded_at
                from request_contents x
                where x.project_id = owner_id and x.end_user = of_user
                limit at_most
            ) o
            where c.project_id = owner_id
                and c.request_id = o.request_id
                and c.recorded_at = o.recorded_at
                and c.end_user = of_user;
        when 'answer' then
            ids := array(select e.id from cache_entries e where e.project_id = owner_id and e.end_user = of_user limit at_most);
            perform delete_entries(ids);
            return cardinality(ids);
        when 'vector' then
            return delete_vectors(
                owner_id,
                array(select v.name from cached_vectors v where v.project_id = owner_id and v.end_user = of_user limit at_most)
            );
        when 'response' then
            delete from stored_responses k
            where k.project_id = owner_id
                and (k.key_id, k.id) in (
                    select x.key_id, x.id from stored_responses x where x.project_id = owner_id and x.end_user = of_user limit at_most
                );
        when 'match' then
            delete from semantic_hits h
            where h.project_id = owner_id
                and h.request_id = any (array(
                    select x.request_id from semantic_hits x where x.project_id = owner_id and x.end_user = of_user limit at_most
                ));
        when 'question' then
            delete from judge_queue q where q.project_id = owner_id and q.end_user = of_user;
        when 'verdict' then
            delete from cache_verdicts v where v.project_id = owner_id and v.end_users @> array[of_user];
        when 'object' then
            -- The project needs it to reach what the provider keeps; that is told in the provider's words again when it is asked for.
            update stored_objects o
            set end_user = null,
                object = null,
                tags = case when o.tags @> named then nullif(o.tags - 'user_id', '{}') else o.tags end
            where o.project_id = owner_id
                and o.end_user = of_user;
        when 'tag' then
            select max(o.recorded_at) into last_time
            from (
                select r.recorded_at
                from usage_records r
                where r.project_id = owner_id and r.tags ? 'user_id' and r.tags ->> 'user_id' = of_user
                order by r.recorded_at
                limit at_most
            ) o;
            update usage_records r
            set tags = nullif(r.tags - 'user_id', '{}')
            where r.project_id = owner_id
                and r.tags ? 'user_id'
                and r.tags ->> 'user_id' = of_user
                and r.recorded_at <= last_time;
            get diagnostics forgotten = row_count;
            if forgotten >= at_most then
                return forgotten;
            end if;
            update stored_objects o
            set tags = nullif(o.tags - 'user_id', '{}')
            where o.project_id = owner_id
                and o.tags @> named;
            -- Nobody adds to these sums meanwhile.
            perform pg_advisory_xact_lock(hashtext('model_proxy roll_up_usage'));
            update usage_pending p
            set tags = nullif(p.tags - 'user_id', '{}')
            where p.project_id = owner_id
                and p.tags @> named;
            with gone as (
                delete from usage_sums_by_tag t
                where t.project_id = owner_id
                    and t.tags @> named
                returning t.*
            ),
            -- All projects together lose what this project had with the tag.
            taken as (
                update usage_sums_by_tag s
                set requests = s.requests - g.requests,
                    hits = s.hits - g.hits,
                    failed = s.failed - g.failed,
                    prompt_tokens = s.prompt_tokens - g.prompt_tokens,
                    cached_prompt_tokens = s.cached_prompt_tokens - g.cached_prompt_tokens,
                    completion_tokens = s.completion_tokens - g.completion_tokens,
                    tokens_saved = s.tokens_saved - g.tokens_saved,
                    cost_usd = s.cost_usd - g.cost_usd,
                    saved_usd = s.saved_usd - g.saved_usd
                from (
                    select
                        g.grain, g.at, g.tags, g.endpoint, g.model, sum(g.requests) as requests, sum(g.hits) as hits, sum(g.failed) as failed,
                        sum(g.prompt_tokens) as prompt_tokens, sum(g.cached_prompt_tokens) as cached_prompt_tokens,
                        sum(g.completion_tokens) as completion_tokens, sum(g.tokens_saved) as tokens_saved, sum(g.cost_usd) as cost_usd,
                        sum(g.saved_usd) as saved_usd
                    from gone g
                    group by 1, 2, 3, 4, 5
                ) g
                where s.project_id = 0
                    and s.key_id = 0
                    and (s.grain, s.at, s.tags, s.endpoint, s.model) = (g.grain, g.at, g.tags, g.endpoint, g.model)
            ),
            -- What has no other tag is in the sums without tags.
            merged as (
                insert into usage_sums_by_tag as s
                select
                    p.project_id, g.grain, g.at, g.tags - 'user_id', case when p.project_id = 0 then 0 else g.key_id end, g.endpoint, g.model, sum(g.requests), sum(g.hits), sum(g.failed),
                    sum(g.prompt_tokens), sum(g.cached_prompt_tokens), sum(g.completion_tokens), sum(g.tokens_saved), sum(g.cost_usd),
                    sum(g.saved_usd)
                from gone g
                cross join unnest(array[g.project_id, 0]) as p (project_id)
                where g.tags - 'user_id' <> '{}'
                group by 1, 2, 3, 4, 5, 6, 7
                on conflict (project_id, grain, at, tags, key_id, endpoint, model) do update
                set requests = s.requests + excluded.requests,
                    hits = s.hits + excluded.hits,
                    failed = s.failed + excluded.failed,
                    prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
                    cached_prompt_tokens = s.cached_prompt_tokens + excluded.cached_prompt_tokens,
                    completion_tokens = s.completion_tokens + excluded.completion_tokens,
                    tokens_saved = s.tokens_saved + excluded.tokens_saved,
                    cost_usd = s.cost_usd + excluded.cost_usd,
                    saved_usd = s.saved_usd + excluded.saved_usd
            )
            select forgotten + count(*) into forgotten from gone;
            delete from usage_sums_by_tag t
            where t.project_id = 0
                and t.tags @> named
                and t.requests = 0;
            return forgotten;
        else
            raise exception 'there is no kind % of end_user_items', quote_for_message(of_kind) using errcode = 'invalid_parameter_value';
    end case;
    get diagnostics forgotten = row_count;
    return forgotten;
end;
$$;

comment on function forget_end_user_items(text, text, text, integer) is 'Deletes the next of what is kept of an end user (in the form of name_end_user()), of one kind of end_user_items, and returns how many; fewer than asked for: none are left. Records stay, without the name, what they said of errors and the tag user_id, and so do sums, which lose the tag: what was spent stays spent. Each call is short and locks no more than these rows, so that requests and their recording go on. forget_end_user() comes first, and is what the audit log tells of. Requires an owner of the project.';

create or replace function count_requested_models(of_project bigint) returns setof requested_model
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select u.model, count(*)
    from (
        select coalesce(r.asked_model, r.model) as model, count(*) over () as requests
        from (
            select x.asked_model, x.model
            from usage_records x
            where x.project_id = of_project
                and x.recorded_at >= now() - interval '7 days'
                -- Without rejected requests.
                and (x.provider is not null or x.cache_result is not null)
            limit 50000
        ) r
    ) u
    where u.requests < 50000
    group by u.model
    order by count(*) desc, u.model
    limit 1000;
$$;

comment on function count_requested_models(bigint) is 'The requests of a project''s last week by the requested model, or alias; none if there are 50,000 or more.';

create or replace function key_activity(of_project bigint)
returns table (
    key_id bigint,
    name text,
    prefix text,
    type text,
    requests_last_minute bigint,
    requests_per_minute integer
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        k.id,
        k.name,
        k.prefix,
        k.type,
        count(r.request_id),
        least(k.requests_per_minute, case k.type when 'test' then pl.test_requests_per_minute else pl.requests_per_minute_per_key end)
    from api_keys k
    join projects p on p.id = k.project_id
    join plans pl on pl.name = p.plan
    left join usage_records r
        on r.project_id = k.project_id and r.key_id = k.id and r.recorded_at > now() - interval '1 minute' and r.recorded_at <= now()
    where k.project_id = of_project
        and k.deactivated_at is null
        and k.replaced_by is null
        and k.session_id is null
    group by k.id, pl.name
    order by 5 desc, k.id;
$$;

comment on function key_activity(bigint) is 'Answered requests of each active key in the last minute, with its limit; without keys of sessions.';

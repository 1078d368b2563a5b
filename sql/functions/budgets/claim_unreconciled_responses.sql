create or replace function claim_unreconciled_responses(max_rows integer)
returns table (
    project_id bigint,
    id text,
    provider text,
    model text,
    direct_providers text[],
    provider_keys_version bigint,
    named_provider_keys text[]
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
begin
    -- After a day, the estimate becomes final.
    delete from unreconciled_responses o where o.recorded_at < now() - interval '1 day';

    return query
    with due as materialized (
        select o.project_id, o.id
        from unreconciled_responses o
        where o.due_at <= now()
        order by o.due_at
        limit max_rows
        for update skip locked
    ),
    taken as (
        update unreconciled_responses o
        set tries = o.tries + 1,
            due_at = now() + least(interval '10 minutes', interval '2 seconds' * 2 ^ least(o.tries, 20))
        from due d
        where o.project_id = d.project_id
            and o.id = d.id
        returning o.*
    )
    select t.project_id, t.id, t.provider, r.model, a.direct_providers, a.provider_keys_version, a.named_provider_keys
    from taken t
    -- A response whose record is not written yet is claimed again later.
    join usage_records r on r.project_id = t.project_id and r.recorded_at = t.recorded_at and r.request_id = t.request_id
    cross join lateral (
        select k.direct_providers, k.provider_keys_version, k.named_provider_keys
        from resolved_keys k
        where k.project_id = t.project_id
        limit 1
    ) a;
end;
$$;

comment on function claim_unreconciled_responses(integer) is
    'Claims up to max_rows responses whose usage is due to be requested, with the data for the request; they are due again after some seconds, with growing intervals, until reconcile_response() or delete_unreconciled_response(). Null: named_provider_keys (each provider has one key at most, named default).';

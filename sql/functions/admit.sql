create or replace function admit(key_hashes text[], wanted integer[])
returns table (
    ordinal integer,
    verdict text,
    granted integer,
    key_id bigint,
    key_type text,
    key_prefix text,
    project_id bigint,
    project_name text,
    month date,
    requests_per_minute integer,
    requests_per_minute_per_address integer,
    semantic_enabled boolean,
    semantic_threshold double precision,
    semantic_guards boolean,
    cache_ttl_seconds integer,
    cache_generation integer,
    direct_providers text[],
    provider_keys_version bigint,
    fallbacks text[]
)
language plpgsql
volatile
set search_path = public, pg_temp
-- Custom plans would be made anew for every batch and cost three times what running them does.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    this_month date := current_month();
    missing boolean;
begin
    -- A crash may forget the last fraction of a second of counting; waiting for the disk on every batch would cost far more.
    perform set_config('synchronous_commit', 'off', true);

    -- Lock every counter the batch needs, in one consistent order, so that concurrent batches queue instead of deadlocking.
    with demand as (
        select distinct
            k.project_id,
            k.type
        from unnest(key_hashes, wanted) as asked (key_hash, wanted)
        join api_keys k on k.key_hash = decode(asked.key_hash, 'hex')
        where asked.wanted > 0
            and k.deactivated_at is null
            and (k.expires_at is null or k.expires_at > now())
    ),
    locked as (
        select c.project_id, c.key_type
        from demand d
        join monthly_counters c on c.project_id = d.project_id and c.key_type = d.type and c.month = this_month
        order by c.project_id, c.key_type
        for update of c
    )
    select (select count(*) from locked) < (select count(*) from demand) into missing;

    -- A project's first request of the month.
    if missing then
        insert into monthly_counters (project_id, key_type, month)
        select distinct k.project_id, k.type, this_month
        from unnest(key_hashes, wanted) as asked (key_hash, wanted)
        join api_keys k on k.key_hash = decode(asked.key_hash, 'hex')
        where asked.wanted > 0
        order by k.project_id, k.type
        on conflict do nothing;

        perform 1
        from monthly_counters c
        where c.month = this_month
            and (c.project_id, c.key_type) in (
                select k.project_id, k.type
                from unnest(key_hashes) as asked (key_hash)
                join api_keys k on k.key_hash = decode(asked.key_hash, 'hex')
            )
        order by c.project_id, c.key_type
        for update;
    end if;

    -- A statement of its own, so that it sees what was committed while it waited for the locks.
    return query
    with asked as (
        select
            a.ordinal::integer,
            greatest(a.wanted, 0) as wanted,
            k.id as key_id,
            k.type as key_type,
            k.prefix as key_prefix,
            k.project_id,
            case
                when k.id is null then 'unknown'
                when k.deactivated_at is not null then 'disabled'
                when k.expires_at <= now() then 'expired'
                else 'active'
            end as verdict
        from unnest(key_hashes, wanted) with ordinality as a (key_hash, wanted, ordinal)
        left join api_keys k on k.key_hash = decode(a.key_hash, 'hex')
    ),
    budgets as (
        select
            d.project_id,
            d.key_type,
            least(
                d.wanted,
                greatest(0, case d.key_type when 'test' then pl.test_requests_per_month else pl.requests_per_month end - c.requests)
            ) as granted
        from (
            select project_id, key_type, sum(wanted) as wanted
            from asked
            where verdict = 'active' and wanted > 0
            group by project_id, key_type
        ) d
        join projects p on p.id = d.project_id
        join plans pl on pl.name = p.plan
        join monthly_counters c on c.project_id = d.project_id and c.key_type = d.key_type and c.month = this_month
    ),
    counted as (
        update monthly_counters c
        set requests = c.requests + b.granted
        from budgets b
        where c.project_id = b.project_id
            and c.key_type = b.key_type
            and c.month = this_month
            and b.granted > 0
    )
    select
        a.ordinal,
        a.verdict,
        -- What the project may still have goes to its keys in the order they were asked for.
        case
            when a.verdict = 'active' then greatest(0, least(a.wanted, coalesce(b.granted, 0) - (
                sum(a.wanted) over (partition by a.project_id, a.key_type, a.verdict order by a.ordinal) - a.wanted
            )))::integer
            else 0
        end as granted,
        a.key_id,
        a.key_type,
        a.key_prefix,
        a.project_id,
        p.name,
        this_month,
        case a.key_type when 'test' then pl.test_requests_per_minute else pl.requests_per_minute_per_key end,
        pl.requests_per_minute_per_address,
        p.semantic_enabled,
        p.semantic_threshold,
        p.semantic_guards,
        p.cache_ttl_seconds,
        p.cache_generation,
        coalesce(keys.providers, '{}'),
        -- Versions only grow: the highest changes with every key that is replaced, the providers with every one that comes or goes.
        coalesce(keys.version, 0),
        coalesce(p.fallbacks, '{}')
    from asked a
    left join projects p on p.id = a.project_id
    left join plans pl on pl.name = p.plan
    left join budgets b on b.project_id = a.project_id and b.key_type = a.key_type
    left join lateral (
        select
            array_agg(pk.provider order by pk.provider) as providers,
            max(pk.version) as version
        from provider_keys pk
        where pk.project_id = a.project_id
    ) keys on true
    order by a.ordinal;
end;
$$;

comment on function admit(text[], integer[]) is
    'Validates a batch of distinct keys (hex SHA-256) and reserves up to wanted requests for each against its month. wanted 0 validates alone. verdict: active, expired, disabled, unknown; granted < wanted: the quota is used up.';

create or replace function admit(
    key_hashes text[],
    requested integer[],
    in_slot uuid,
    this_batch bigint,
    known_versions text[],
    commits_on_disk boolean,
    lock_wait_ms integer
)
returns table (
    ordinal integer,
    verdict text,
    granted integer,
    month date,
    key_version text,
    account text,
    near_end boolean
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- Custom plans would be created for every batch, which would take twice as long.
set plan_cache_mode = force_generic_plan
-- If another transaction, such as an operator's, holds a counter for longer, the batch fails, so that other projects need not wait. The
-- proxy then sends a separate batch for that counter.
set lock_timeout = '40ms'
as $$
#variable_conflict use_column
declare
    this_month date := current_month();
    -- Receives the result of set_config(), because an assignment costs a tenth of a query.
    durability text;
    missing boolean;
    is_near boolean;
begin
    if lock_wait_ms > 40 then
        perform set_config('lock_timeout', lock_wait_ms || 'ms', true);
    end if;

    -- A crash may lose the last fraction of a second of counting; waiting for the disk on every batch would cost far more. Near the end of
    -- a monthly quota, lost counts would admit requests beyond the quota, so the counts must be on disk. Usually the caller waits for the
    -- disk, after this function has released the counter, so that all batches of the counter wait at the same time.
    durability := set_config('synchronous_commit', 'off', true);

    -- A batch that is sent again because its reply was lost gets the same grants. If a later batch of the slot has been counted, the
    -- earlier one was settled, and nothing is granted.
    if in_slot is not null then
        insert into admission_slots as s (slot, batch, month, granted)
        values (in_slot, this_batch, this_month, requested)
        on conflict (slot) do update
        set batch = excluded.batch,
            month = excluded.month,
            granted = excluded.granted,
            used_at = excluded.used_at
        where s.batch < excluded.batch;
        if not found then
            return query
            select
                a.ordinal::integer,
                coalesce(k.verdict, 'unknown'),
                coalesce(s.granted[a.ordinal], 0),
                coalesce(s.month, this_month),
                l.key_version,
                to_json(k)::text,
                true
            from unnest(key_hashes) with ordinality as a (key_hash, ordinal)
            left join key_limits l on l.key_hash = decode(a.key_hash, 'hex')
            left join resolved_keys k on k.key_hash = l.key_hash
            left join admission_slots s on s.slot = in_slot and s.batch = this_batch
            order by a.ordinal;
            return;
        end if;
    end if;

    -- The usual batch: one active key, whose version the caller knows, in a month with ample quota left. After waiting for the counter, the
    -- condition is checked again.
    if cardinality(key_hashes) = 1 and requested[1] > 0 then
        update monthly_counters c
        set requests = c.requests + requested[1]
        from key_limits k
        where k.key_hash = decode(key_hashes[1], 'hex')
            and k.verdict = 'active'
            and k.key_version = known_versions[1]
            and c.project_id = k.project_id
            and c.key_type = k.key_type
            and c.month = this_month
            and c.requests + requested[1] <= k.requests_per_month - k.counted_durably;
        if found then
            ordinal := 1;
            verdict := 'active';
            granted := requested[1];
            month := this_month;
            key_version := known_versions[1];
            near_end := false;
            return next;
            return;
        end if;
    end if;

    -- Locks every counter that the batch needs, in one consistent order, so that concurrent batches queue instead of deadlocking.
    with demand as (
        select
            k.project_id,
            k.key_type,
            max(k.requests_per_month - k.counted_durably) - sum(asked.requested) as ample
        from unnest(key_hashes, requested) as asked (key_hash, requested)
        join key_limits k on k.key_hash = decode(asked.key_hash, 'hex')
        where asked.requested > 0
            and k.verdict = 'active'
        group by k.project_id, k.key_type
    ),
    locked as (
        select c.requests > d.ample as near_end
        from demand d
        join monthly_counters c on c.project_id = d.project_id and c.key_type = d.key_type and c.month = this_month
        order by c.project_id, c.key_type
        for update of c
    )
    select
        (select count(*) from locked) < (select count(*) from demand),
        (select bool_or(l.near_end) from locked l)
    into missing, is_near;

    is_near := missing or coalesce(is_near, false);
    if is_near and commits_on_disk then
        durability := set_config('synchronous_commit', 'on', true);
    end if;

    -- Creates the counters of projects without a request in this month.
    if missing then
        insert into monthly_counters (project_id, key_type, month)
        select distinct k.project_id, k.type, this_month
        from unnest(key_hashes, requested) as asked (key_hash, requested)
        join api_keys k on k.key_hash = decode(asked.key_hash, 'hex')
        where asked.requested > 0
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

    -- A separate statement sees the changes that were committed while the locks were awaited.
    return query
    with asked as (
        select
            a.ordinal::integer,
            greatest(a.requested, 0) as requested,
            a.known_version,
            coalesce(k.verdict, 'unknown') as verdict,
            k.key_hash,
            k.project_id,
            k.key_type,
            k.requests_per_month,
            k.key_version
        from unnest(key_hashes, requested, known_versions) with ordinality as a (key_hash, requested, known_version, ordinal)
        left join key_limits k on k.key_hash = decode(a.key_hash, 'hex')
    ),
    budgets as (
        select
            d.project_id,
            d.key_type,
            least(d.requested, greatest(0, d.requests_per_month - c.requests)) as granted
        from (
            select a.project_id, a.key_type, a.requests_per_month, sum(a.requested) as requested
            from asked a
            where a.verdict = 'active' and a.requested > 0
            group by a.project_id, a.key_type, a.requests_per_month
        ) d
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
    ),
    answered as (
        select
            a.*,
            -- The keys of a project share its remaining quota in the order of the batch.
            case
                when a.verdict = 'active' then greatest(0, least(a.requested, coalesce(b.granted, 0) - (
                    sum(a.requested) over (partition by a.project_id, a.key_type, a.verdict order by a.ordinal) - a.requested
                )))::integer
                else 0
            end as granted
        from asked a
        left join budgets b on b.project_id = a.project_id and b.key_type = a.key_type
    ),
    noted as (
        update admission_slots s
        set granted = (select array_agg(a.granted order by a.ordinal) from answered a)
        where s.slot = in_slot
    )
    select a.ordinal, a.verdict, a.granted, this_month, a.key_version, to_json(changed.account)::text, is_near
    from answered a
    -- A separate join, so that the account is assembled only if the caller does not know the key's version.
    left join lateral (
        select k as account
        from resolved_keys k
        where k.key_hash = a.key_hash
            and a.key_version is distinct from a.known_version
        limit 1
    ) changed on true
    order by a.ordinal;
end;
$$;

comment on function admit(text[], integer[], uuid, bigint, text[], boolean, integer) is
    'Validates a batch of distinct keys (hex SHA-256) and reserves up to that many requests for each against its month. requested 0: only validates. verdict: active, expired, disabled, unknown; account: in JSON; granted < requested: the quota is used up. Idempotent: the same batch of the same slot, sent again, reserves nothing and returns the same grants. A locked counter fails the batch within lock_wait_ms, 40 ms at least (55P03). near_end: the month is nearly used up, and no request may be admitted before this is on disk; with commits_on_disk, its commit waits for that. Null: in_slot, this_batch (they are not remembered), key_version (the key is unknown), account (it is unknown, or the caller knows this version of it).';

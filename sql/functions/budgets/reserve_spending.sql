create or replace function reserve_spending(asks json, in_slot uuid, this_batch bigint)
returns table (
    ordinal integer,
    verdict text,
    remaining_usd double precision,
    unit text,
    amount double precision,
    per text,
    scope text,
    resets_at timestamptz
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- A budget that another transaction holds, such as an operator's, fails the batch in the end.
set lock_timeout = '2s'
as $$
#variable_conflict use_column
declare
    asked record;
    short record;
    -- Share of a budget that is left when reservations begin to wait for the disk.
    kept_durably constant numeric := 0.1;
    left_usd double precision;
begin
    -- As in admit(): a batch that comes again, because its reply was lost, or that comes late, reserves nothing.
    insert into admission_slots as s (slot, batch, month, granted)
    values (in_slot, this_batch, current_month(), '{}')
    on conflict (slot) do update
    set batch = excluded.batch,
        used_at = excluded.used_at
    where s.batch < excluded.batch;
    if not found then
        return;
    end if;

    -- Every period the batch needs, in one consistent order, so that concurrent batches queue instead of deadlocking.
    insert into budget_periods (budget_id, begins)
    select distinct b.id, p.begins
    from json_to_recordset(asks) as a (project_id bigint, key_id bigint, model text, tags jsonb)
    cross join lateral budgets_of(a.project_id, a.key_id, a.model, a.tags) b
    cross join lateral period_of(b.per, b.time_zone, now()) p
    where b.enforced
    order by 1, 2
    on conflict do nothing;

    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (
        select b.id, p.begins
        from json_to_recordset(asks) as a (project_id bigint, key_id bigint, model text, tags jsonb)
        cross join lateral budgets_of(a.project_id, a.key_id, a.model, a.tags) b
        cross join lateral period_of(b.per, b.time_zone, now()) p
        where b.enforced
    )
    order by c.budget_id, c.begins
    for update;

    -- As in admit(): a crash may lose the last fraction of a second, but not where it would be spent beyond a limit. Budgets that many
    -- projects share are not locked while one of them waits for the disk.
    if not exists (
        select
        from json_to_recordset(asks) as a (project_id bigint, key_id bigint, model text, tags jsonb, usd numeric, tokens bigint)
        cross join lateral budgets_of(a.project_id, a.key_id, a.model, a.tags) b
        cross join lateral period_of(b.per, b.time_zone, now()) p
        join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        where b.enforced
        group by b.id, b.amount, c.begins, c.spent, c.reserved
        having c.spent + c.reserved + sum(case b.unit when 'usd' then a.usd else a.tokens end) > b.amount * (1 - kept_durably)
    ) then
        perform set_config('synchronous_commit', 'off', true);
    end if;

    -- One after the other, because each leaves less for the next. Statements of their own see what was committed while they waited.
    for asked in
        select a.*, row_number() over ()::integer as ordinal
        from json_to_recordset(asks) as a (
            id uuid, project_id bigint, key_id bigint, request_id text, endpoint text, model text, tags jsonb, usd numeric, tokens bigint
        )
    loop
        select b.*, p.ends, c.begins, c.spent, c.reserved
        into short
        from budgets_of(asked.project_id, asked.key_id, asked.model, asked.tags) b
        cross join lateral period_of(b.per, b.time_zone, now()) p
        join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        cross join lateral (select case b.unit when 'usd' then asked.usd else asked.tokens end as needed) n
        -- What has no price may cost anything; what is free passes, whatever is spent.
        where b.enforced
            and (n.needed is null or n.needed > 0 and c.spent + c.reserved + n.needed > b.amount)
        order by n.needed is not null, (b.key_id is null)::integer + (b.tag is null)::integer + (b.model is null)::integer, b.project_id is null, p.ends desc, b.id
        limit 1;

        if not found then
            with reserving as (
                insert into budget_reservations as r (
                    id, budget_id, begins, amount, project_id, key_id, request_id, endpoint, model, tags, expires_at
                )
                select
                    asked.id,
                    b.id,
                    p.begins,
                    coalesce(case b.unit when 'usd' then asked.usd else asked.tokens end, 0),
                    asked.project_id,
                    asked.key_id,
                    asked.request_id,
                    asked.endpoint,
                    asked.model,
                    asked.tags,
                    now() + interval '5 minutes'
                from budgets_of(asked.project_id, asked.key_id, asked.model, asked.tags) b
                cross join lateral period_of(b.per, b.time_zone, now()) p
                where b.enforced
                on conflict (id, budget_id, begins) do update
                set amount = r.amount + excluded.amount,
                    model = excluded.model
                returning r.budget_id, r.begins
            )
            update budget_periods c
            set reserved = c.reserved + coalesce(case b.unit when 'usd' then asked.usd else asked.tokens end, 0)
            from reserving r
            join budgets b on b.id = r.budget_id
            where c.budget_id = r.budget_id
                and c.begins = r.begins;
        end if;

        select min(greatest(0, b.amount - c.spent - c.reserved))
        into left_usd
        from budgets_of(asked.project_id, asked.key_id, asked.model, asked.tags) b
        cross join lateral period_of(b.per, b.time_zone, now()) p
        join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        where b.unit = 'usd'
            and b.enforced;

        return query
        select
            asked.ordinal,
            case
                when short.id is null then 'granted'
                when short.unit = 'usd' and asked.usd is null or short.unit = 'tokens' and asked.tokens is null then 'unpriced'
                else 'exhausted'
            end,
            left_usd,
            short.unit,
            short.amount::double precision,
            short.per,
            case
                when short.key_id is not null then 'key'
                when short.tag is not null then 'tag'
                when short.model is not null then 'model'
                when short.project_id is not null then 'project'
                else 'organization'
            end,
            case when short.ends < 'infinity' then short.ends end;
    end loop;
end;
$$;

comment on function reserve_spending(json, uuid, bigint) is
    'Reserves the most that each request may cost (id, project_id, key_id, request_id, endpoint, model, tags, usd, tokens) in all budgets that apply to it and are enforced, or in none; far from their limits, its commit does not wait for the disk. verdict: granted, exhausted, unpriced (no price, or no largest answer, is known); then the budget that refuses is told; scope: key, tag, model, project, organization. A request may reserve several times under its id. A batch of a slot that was seen before returns nothing. A locked budget fails the batch after two seconds (55P03). Null: remaining_usd (no budget in US dollars applies), unit, amount, per (granted), resets_at (granted, or it does not reset).';

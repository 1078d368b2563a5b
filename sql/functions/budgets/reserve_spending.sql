create or replace function reserve_spending(requests json, in_slot uuid, this_batch bigint)
returns table (
    ordinal integer,
    verdict text,
    remaining_usd double precision,
    unit text,
    amount double precision,
    per text,
    scope text,
    resets_at timestamptz,
    budget_id bigint,
    spent double precision,
    reserved double precision,
    share_limit double precision,
    may_wait boolean
)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
-- If another transaction, such as an operator's, holds a budget for longer, the batch fails.
set lock_timeout = '2s'
-- Planning each call would take a quarter of its time.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    asked record;
    short record;
    -- While less than this share of a budget is left, reservations wait for the disk.
    kept_durably constant numeric := 0.1;
    -- Percentage of the organization's budgets that one project may reserve. It is not a setting of the project, because the project's
    -- owner could then lock out other projects.
    project_share constant integer := 80;
    left_usd double precision;
    -- Of the budget that rejects: whether a share limit rejects, the amount reserved by this request, the amount reserved by others, and
    -- the part of that which may be released soon.
    is_share boolean;
    own numeric;
    others numeric;
    may_end numeric;
begin
    -- As in admit(): a batch that is sent again because its reply was lost, or that arrives late, reserves nothing.
    insert into admission_slots as s (slot, batch, month, granted)
    values (in_slot, this_batch, current_month(), '{}')
    on conflict (slot) do update
    set batch = excluded.batch,
        used_at = excluded.used_at
    where s.batch < excluded.batch;
    if not found then
        return;
    end if;

    -- Creates and locks every period that the batch needs, in one consistent order, so that concurrent batches queue instead of
    -- deadlocking.
    insert into budget_periods (budget_id, begins)
    select distinct b.id, p.begins
    from json_to_recordset(requests) as a (project_id bigint, key_id bigint, model text, tags jsonb)
    cross join lateral matching_budgets(a.project_id, a.key_id, a.model, a.tags) b
    cross join lateral budget_period_at(b.per, b.time_zone, now()) p
    where b.enforced
    order by 1, 2
    on conflict do nothing;

    perform 1
    from budget_periods c
    where (c.budget_id, c.begins) in (
        select b.id, p.begins
        from json_to_recordset(requests) as a (project_id bigint, key_id bigint, model text, tags jsonb)
        cross join lateral matching_budgets(a.project_id, a.key_id, a.model, a.tags) b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) p
        where b.enforced
    )
    order by c.budget_id, c.begins
    for update;

    -- As in admit(): a crash may lose the last fraction of a second, except near a limit. Budgets that many projects share are not locked
    -- while one of the projects waits for the disk.
    if not exists (
        select
        from json_to_recordset(requests) as a (project_id bigint, key_id bigint, model text, tags jsonb, usd numeric, tokens bigint)
        cross join lateral matching_budgets(a.project_id, a.key_id, a.model, a.tags) b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) p
        join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        where b.enforced
        group by b.id, b.amount, c.begins, c.spent, c.reserved
        having c.spent + c.reserved + sum(case b.unit when 'usd' then a.usd else a.tokens end) > b.amount * (1 - kept_durably)
    ) then
        perform set_config('synchronous_commit', 'off', true);
    end if;

    -- Requests are processed one after the other, because each leaves less for the next. Separate statements see the changes that were
    -- committed while the locks were awaited.
    for asked in
        select
            a.*,
            row_number() over ()::integer as ordinal,
            (select p.budget_key_share from projects p where p.id = a.project_id) as key_share
        from json_to_recordset(requests) as a (
            id uuid, project_id bigint, key_id bigint, request_id text, endpoint text, model text, tags jsonb, usd numeric, tokens bigint
        )
    loop
        select b.*, p.ends, c.begins, c.spent, c.reserved, n.needed, s.share_limit
        into short
        from matching_budgets(asked.project_id, asked.key_id, asked.model, asked.tags) b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) p
        join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        cross join lateral (select case b.unit when 'usd' then asked.usd else asked.tokens end as needed) n
        -- One key may reserve a share of the unspent part of its project's budgets, and one project a share of the organization's. A key's
        -- own budget has no share limit.
        cross join lateral (
            select (b.amount - c.spent) * case
                when b.project_id is null then project_share
                when b.key_id is null then asked.key_share
            end / 100 as share_limit
        ) s
        -- A request without a price may cost any amount. A free request passes, however much is spent.
        where b.enforced
            and (
                n.needed is null
                or n.needed > 0
                    and (
                        c.spent + c.reserved + n.needed > b.amount
                        -- A key or project without other reservations passes, as does the only key or project. Reservations are summed only
                        -- near the share limit.
                        or case when c.reserved + n.needed > s.share_limit then
                            (
                                select sum(r.amount)
                                from budget_reservations r
                                where r.budget_id = b.id
                                    and r.begins = c.begins
                                    and r.project_id = asked.project_id
                                    and (b.project_id is null or r.key_id = asked.key_id)
                                    and r.id <> asked.id
                            ) + n.needed > s.share_limit
                            and has_other_spender(b.project_id, asked.project_id, asked.key_id)
                        else false end
                    )
            )
        order by
            n.needed is not null,
            c.spent + n.needed <= b.amount,
            (b.key_id is null)::integer + (b.tag is null)::integer + (b.model is null)::integer,
            b.project_id is null,
            p.ends desc,
            b.id
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
                from matching_budgets(asked.project_id, asked.key_id, asked.model, asked.tags) b
                cross join lateral budget_period_at(b.per, b.time_zone, now()) p
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
        from matching_budgets(asked.project_id, asked.key_id, asked.model, asked.tags) b
        cross join lateral budget_period_at(b.per, b.time_zone, now()) p
        join budget_periods c on c.budget_id = b.id and c.begins = p.begins
        where b.unit = 'usd'
            and b.enforced;

        is_share := short.spent + short.reserved + short.needed <= short.amount;
        if short.needed is not null then
            select
                coalesce(sum(r.amount) filter (where r.id = asked.id), 0),
                coalesce(sum(r.amount) filter (where r.id <> asked.id), 0),
                -- Excludes batches, which take hours, requests whose process has ended, and doubtful amounts.
                coalesce(
                    sum(r.amount) filter (
                        where r.id <> asked.id and r.expires_at > now() and r.expires_at < 'infinity' and r.doubtful_at is null
                    ),
                    0
                )
            into own, others, may_end
            from budget_reservations r
            where r.budget_id = short.id
                and r.begins = short.begins
                and (not is_share or r.project_id = asked.project_id and (short.project_id is null or r.key_id = asked.key_id));
        end if;

        return query
        select
            asked.ordinal,
            case
                when short.id is null then 'granted'
                when short.needed is null then 'unpriced'
                when short.spent + own + short.needed > short.amount then 'exhausted'
                else 'reserved'
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
            case when short.ends < 'infinity' then short.ends end,
            short.id,
            short.spent::double precision,
            case when is_share then others else short.reserved end::double precision,
            case when is_share then short.share_limit end::double precision,
            case
                when is_share then others = may_end or others - may_end + short.needed <= short.share_limit
                else short.spent + short.reserved - may_end + short.needed <= short.amount
            end;
    end loop;
end;
$$;

comment on function reserve_spending(json, uuid, bigint) is
    'Reserves the most that each request may cost (id, project_id, key_id, request_id, endpoint, model, tags, usd, tokens) in all budgets that apply to it and are enforced, or in none; far from their limits, its commit does not wait for the disk. verdict: granted; reserved (it fits once other requests have settled); exhausted (it fits no more in this period); unpriced (no price, or no longest response, is known). Then the budget that rejects it follows; scope: key, tag, model, project, organization. share_limit: the most that one key may reserve of it, or of the organization''s one project, where that rejects it; reserved is then that key''s or project''s. may_wait: whether it fits once the requests that live have settled. A request may reserve several times under its id. A batch of a slot that was seen before returns nothing. A locked budget fails the batch after two seconds (55P03). Null: remaining_usd (no budget in US dollars applies), unit, amount, per, budget_id, spent, reserved, may_wait (granted), resets_at (granted, or it does not reset), share_limit (no share rejects it).';

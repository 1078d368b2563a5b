create or replace function put_budget(
    owner_id bigint,
    in_unit text,
    of_amount numeric,
    in_per text,
    of_key bigint,
    of_model text,
    tagged jsonb,
    in_zone text,
    is_enforced boolean
)
returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    put_id bigint;
begin
    -- Batches of records that do not know of the budget are written first, and are counted below; those that follow know of it.
    perform pg_advisory_xact_lock(hashtext('model_proxy put_budget'));

    if owner_id is null then
        -- No project is made meanwhile that would not know of it.
        lock table projects in share row exclusive mode;
        insert into budgets as b (unit, amount, per, time_zone, enforced)
        values (in_unit, of_amount, in_per, in_zone, is_enforced)
        on conflict (unit, per) where project_id is null do update
        set amount = case when excluded.enforced then excluded.amount else b.amount end,
            time_zone = case when excluded.enforced then excluded.time_zone else b.time_zone end,
            enforced = b.enforced or excluded.enforced
        returning b.id into put_id;
    else
        insert into budgets as b (project_id, key_id, model, tag, unit, amount, per, time_zone, enforced)
        values (owner_id, of_key, of_model, tagged, in_unit, of_amount, in_per, in_zone, is_enforced)
        on conflict (project_id, unit, per, coalesce(key_id, 0), coalesce(model, ''), coalesce(tag, '{}')) do update
        set amount = case when excluded.enforced then excluded.amount else b.amount end,
            time_zone = case when excluded.enforced then excluded.time_zone else b.time_zone end,
            enforced = b.enforced or excluded.enforced
        returning b.id into put_id;
    end if;
    -- A new version of each account, so that the next request reserves.
    update projects p set has_budgets = true where p.id = owner_id or owner_id is null and not p.has_budgets;

    -- A new period begins with what its time has cost already; a total, with nothing.
    insert into budget_periods (budget_id, begins, spent)
    select
        put_id,
        p.begins,
        case
            when in_per = 'total' then 0
            else (
                select coalesce(sum(case in_unit when 'usd' then r.cost_usd else r.prompt_tokens + r.completion_tokens end), 0)
                from usage_records r
                where (owner_id is null or r.project_id = owner_id)
                    and r.recorded_at >= p.begins
                    and (of_key is null or r.key_id = of_key)
                    and (of_model is null or (model_names(of_model))[1] = any (model_names(r.model)))
                    and (tagged is null or r.tags @> tagged)
            )
        end
    from period_of(in_per, in_zone, now()) p
    on conflict do nothing;
    return put_id;
end;
$$;

comment on function put_budget(bigint, text, numeric, text, bigint, text, jsonb, text, boolean) is
    'Sets a budget whose values and owner were checked (null: the organization, for all that is spent), and returns its id. One that is not enforced leaves an enforced one as it is.';

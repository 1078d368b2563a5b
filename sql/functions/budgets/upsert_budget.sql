create or replace function upsert_budget(
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
    previous_zone text;
begin
    loop
        insert into budgets as b (project_id, key_id, model, tag, unit, amount, per, time_zone, enforced)
        values (owner_id, of_key, of_model, tagged, in_unit, of_amount, in_per, in_zone, is_enforced)
        on conflict do nothing
        returning b.id into put_id;
        exit when found;
        select b.id, b.time_zone into put_id, previous_zone
        from budgets b
        where b.project_id is not distinct from owner_id
            and (b.unit, b.per, coalesce(b.key_id, 0), coalesce(b.model, ''), coalesce(b.tag, '{}'))
                = (in_unit, in_per, coalesce(of_key, 0), coalesce(of_model, ''), coalesce(tagged, '{}'))
        for no key update;
        exit when found;
    end loop;

    if previous_zone is not null then
        if is_enforced then
            update budgets b
            set amount = of_amount,
                time_zone = in_zone,
                enforced = true
            where b.id = put_id
                and (b.amount, b.time_zone, b.enforced) is distinct from (of_amount, in_zone, true);
        end if;
        -- The budget's periods already count every record.
        if previous_zone = in_zone or not is_enforced then
            return put_id;
        end if;
    end if;
    perform start_budget_period(put_id);
    return put_id;
end;
$$;

comment on function upsert_budget(bigint, text, numeric, text, bigint, text, jsonb, text, boolean) is
    'Sets a budget whose values and owner were validated (null: the organization, for all spending), and returns its id. A budget that is not enforced does not change an enforced one.';

create or replace function list_budgets(of_project bigint, only_budget bigint default null)
returns table (
    id bigint,
    key_id bigint,
    key_name text,
    key_prefix text,
    model text,
    tag text,
    unit text,
    amount numeric,
    per text,
    time_zone text,
    spent numeric,
    reserved numeric,
    remaining numeric,
    begins_at timestamptz,
    resets_at timestamptz
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select
        b.id, b.key_id, k.name, k.prefix, b.model,
        (select t.name || '=' || t.value from jsonb_each_text(b.tag) as t (name, value)),
        b.unit, b.amount, b.per, b.time_zone,
        coalesce(c.spent, 0),
        coalesce(c.reserved, 0),
        greatest(0, b.amount - coalesce(c.spent, 0) - coalesce(c.reserved, 0)),
        nullif(p.begins, 'epoch'),
        nullif(p.ends, 'infinity')
    from budgets b
    cross join lateral period_of(b.per, b.time_zone, now()) p
    left join budget_periods c on c.budget_id = b.id and c.begins = p.begins
    left join api_keys k on k.id = b.key_id
    where b.project_id is not distinct from of_project
        and b.enforced
        and (only_budget is null or b.id = only_budget)
    order by b.key_id nulls first, b.tag nulls first, b.model nulls first, b.unit desc, p.ends desc, b.id;
$$;

comment on function list_budgets(bigint, bigint) is 'A project''s budgets, or the organization''s for null, with what is spent, reserved and left of each in its present period.';

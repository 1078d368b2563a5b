create or replace function import_budgets(document jsonb, out created integer, out changed integer, out unchanged integer)
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    of_new bigint;
begin
    create temporary table given_budgets on commit drop as
    with periods as materialized (
        select per, period.begins
        from unnest(array['day', 'week', 'month', 'total']) as per
        cross join lateral budget_period_at(per, 'UTC', now()) period
    )
    select
        p.id as project_id, k.id as key_id, g.model, g.per, g.amount, g.spent, t.begins, b.id as known_id,
        b.id is null and exists (select from monthly_counters c where c.project_id = p.id) as has_usage
    from jsonb_to_recordset(document -> 'budgets') as g (project text, key text, model text, per text, amount numeric, spent numeric)
    join projects p on p.imported_id = (document ->> 'gateway') || ':' || g.project
    left join api_keys k on k.imported_hash = decode(g.key, 'hex')
    join periods t on t.per = g.per
    left join budgets b
        on b.project_id = p.id
        and (b.unit, b.per, coalesce(b.key_id, 0), coalesce(b.model, ''), coalesce(b.tag, '{}'))
            = ('usd', g.per, coalesce(k.id, 0), coalesce(g.model, ''), '{}')
    where g.key is null or k.id is not null;
    -- Without statistics, the statements below would compare each budget with each other.
    analyze given_budgets;

    update budgets b
    set amount = g.amount,
        enforced = true
    from given_budgets g
    where b.id = g.known_id
        and (b.amount, b.enforced) is distinct from (g.amount, true);
    get diagnostics changed = row_count;
    unchanged := (select count(*) from given_budgets g where g.known_id is not null) - changed;

    with added as (
        insert into budgets (project_id, key_id, model, unit, per, amount)
        select g.project_id, g.key_id, g.model, 'usd', g.per, g.amount
        from given_budgets g
        where g.known_id is null
        returning id, project_id, key_id, model, per
    )
    update given_budgets g
    set known_id = a.id
    from added a
    where g.known_id is null
        and (g.project_id, coalesce(g.key_id, 0), coalesce(g.model, ''), g.per)
            = (a.project_id, coalesce(a.key_id, 0), coalesce(a.model, ''), a.per);
    get diagnostics created = row_count;

    -- A project with usage of its own has spent some of a new budget's present period here.
    for of_new in
        select g.known_id from given_budgets g where g.has_usage
    loop
        perform start_budget_period(of_new);
    end loop;
    update projects p set has_budgets = true
    where not p.has_budgets and p.id in (select g.project_id from given_budgets g);

    -- Counts what was spent at the former gateway since the last import, in the same period.
    insert into budget_periods as c (budget_id, begins, spent, imported)
    select g.known_id, g.begins, g.spent, g.spent from given_budgets g
    on conflict (budget_id, begins) do update
    set spent = greatest(0, c.spent + excluded.imported - c.imported),
        imported = excluded.imported
    where c.imported <> excluded.imported;
end;
$$;

comment on function import_budgets(jsonb) is 'Sets the budgets of an import, in US dollars, with what was spent at the former gateway in the present period. See import_accounts().';

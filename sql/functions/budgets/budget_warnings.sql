create or replace function budget_warnings(of_budget bigint) returns text[]
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    budget budgets;
    warnings text[] := '{}';
    written text;
    nearest text;
begin
    select b.* into budget from budgets b where b.id = of_budget;
    if budget.tag is null and budget.model is null and budget.key_id is null
        or exists (select from budget_periods c where c.budget_id = of_budget and (c.spent > 0 or c.reserved > 0))
    then
        return warnings;
    end if;
    if exists (
        select from api_keys k where k.id = budget.key_id and (k.deactivated_at is not null or k.expires_at <= now())
    ) then
        warnings := warnings || 'The key of this budget is not valid any more: no request can match.'::text;
    end if;
    if budget.model is not null then
        warnings := warnings || model_name_warnings(budget.project_id, array[budget.model]);
    end if;
    -- Reads the last week only. A tag that was used earlier shows in the budget's spending.
    if budget.tag is not null and not exists (
        select
        from usage_sums_by_tag t
        where t.project_id = budget.project_id and t.grain = 'day' and t.at > now() - interval '7 days' and t.tags @> budget.tag
    )
        and not exists (select from usage_pending p where p.project_id = budget.project_id and p.tags @> budget.tag)
    then
        select t.key || '=' || t.value into written from jsonb_each_text(budget.tag) t;
        nearest := find_similar_name(written, array(
            select distinct g.key || '=' || g.value
            from usage_sums_by_tag t
            cross join lateral jsonb_each_text(t.tags) g
            where t.project_id = budget.project_id
                and t.grain = 'day'
                and t.at > now() - interval '7 days'
            limit 1000
        ));
        warnings := warnings || (
            format('No request with the tag %s has been recorded.', written) || coalesce(' Did you mean ' || nearest || '?', '')
        );
    end if;
    return warnings;
end;
$$;

comment on function budget_warnings(bigint) is
    'A sentence for each name in a budget (its model, key or tag) that no request has matched. Empty if the budget has spent anything.';

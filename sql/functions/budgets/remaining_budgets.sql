create or replace function remaining_budgets(max_rows integer)
returns table (
    project text,
    budget text,
    per text,
    remaining_usd double precision
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select coalesce(p.name, ''), 'budget_' || b.id, b.per, greatest(0, b.amount - coalesce(c.spent, 0) - coalesce(c.reserved, 0))
    from budgets b
    left join projects p on p.id = b.project_id
    cross join lateral budget_period_at(b.per, b.time_zone, now()) present
    left join budget_periods c on c.budget_id = b.id and c.begins = present.begins
    where b.unit = 'usd'
        and b.enforced
        and p.archived_at is null
    -- The budgets with the largest used share come first.
    order by (coalesce(c.spent, 0) + coalesce(c.reserved, 0)) / nullif(b.amount, 0) desc nulls first, b.id
    limit max_rows;
$$;

comment on function remaining_budgets(integer) is 'The remaining amounts of that many budgets in US dollars, of all projects (the organization''s have no name), those with the smallest remaining share first.';

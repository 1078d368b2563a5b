create or replace function list_spend_alerts(of_project bigint)
returns table (
    id bigint,
    amount numeric,
    recipients text[],
    subject_prefix text
)
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select a.id, a.amount, a.recipients, a.subject_prefix
    from spend_alerts a
    join budgets b on b.id = a.budget_id
    where b.project_id is not distinct from of_project
    order by a.id;
$$;

comment on function list_spend_alerts(bigint) is 'The spend alerts of a project, or for null of the organization.';

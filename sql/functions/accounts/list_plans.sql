create or replace function list_plans() returns setof plans
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select p.* from plans p order by p.requests_per_month, p.name;
$$;

comment on function list_plans() is 'All plans, smallest first.';

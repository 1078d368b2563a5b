create or replace function list_used_models(of_project bigint) returns table (model text)
language sql
stable
rows 20
set search_path = model_proxy, pg_temp
as $$
    select distinct s.model
    from usage_sums s
    where s.project_id = of_project
        and s.grain = 'month'
        and s.status_class = 2
    union
    select distinct p.model
    from usage_pending p
    where p.project_id = of_project
        and p.status_class = 2;
$$;

comment on function list_used_models(bigint) is 'The models that have responded to a request of the project.';

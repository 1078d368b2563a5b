create or replace function list_calibration(of_project bigint)
returns setof calibration_step
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select c.difference, c.threshold, c.served, c.precision, c.precision_low, c.precision_high
    from calibration c
    where c.project_id = of_project
    order by c.difference, c.threshold;
$$;

comment on function list_calibration(bigint) is 'The view calibration of one project.';

create or replace function choose_usage_sums(of_projects bigint[], by_key boolean, by_model boolean, by_project boolean default false) returns text
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select case
        when by_key or by_project and by_model then 'projects'
        -- Roles other than the dashboard's see everything.
        when not by_project and of_projects is null and (current_user <> 'model_proxy_dashboard' or is_administrator()) then 'models'
        when by_model then 'projects'
        else 'totals'
    end;
$$;

comment on function choose_usage_sums(bigint[], boolean, boolean, boolean) is
    'Selects the sums that a report reads: models, the sums of all projects together, by model and type of key, if the current user may see all projects and the report groups neither by key nor by project; totals, the sums of each project by type of key, if it does not group by key and model either; otherwise projects, all sums of each project. Null: of_projects (all).';

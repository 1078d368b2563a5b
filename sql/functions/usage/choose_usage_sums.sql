create or replace function choose_usage_sums(of_projects bigint[], by_key boolean, by_model boolean) returns text
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select case
        when of_projects is not null or by_key and by_model then 'projects'
        -- Roles other than the dashboard's see everything.
        when current_user = 'model_proxy_dashboard' and not is_administrator() then 'projects'
        when by_key then 'keys'
        else 'models'
    end;
$$;

comment on function choose_usage_sums(bigint[], boolean, boolean) is
    'Selects the sums that a report reads: keys or models, the sums of all projects together, which are few, if the current user may see all projects and the report groups by key or by model and type of key, but not by both; otherwise projects, the sums of each project. Null: of_projects (all).';

create or replace function choose_usage_sums(of_projects bigint[], by_key boolean, by_model boolean) returns text
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select case
        when of_projects is not null or by_key and by_model then 'projects'
        -- Whoever does not act for a user of the dashboard sees everything.
        when current_user = 'model_proxy_dashboard' and not is_administrator() then 'projects'
        when by_key then 'keys'
        else 'models'
    end;
$$;

comment on function choose_usage_sums(bigint[], boolean, boolean) is
    'Which sums a report reads: those of all projects together, which are few, where whoever reads may see all projects, and reads them by key (keys) or by model and type of key (models), and not by both; else those of each project (projects). Null: of_projects (all).';

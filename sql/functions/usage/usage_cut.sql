create or replace function usage_cut(of_projects bigint[], by_key boolean, by_model boolean) returns text
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select case
        when of_projects is not null or by_key and by_model or not is_administrator() then 'projects'
        when by_key then 'keys'
        else 'models'
    end;
$$;

comment on function usage_cut(bigint[], boolean, boolean) is
    'Which sums usage_within() reads: of all projects together, which are few, where an administrator reads all of them (of_projects is null) by key or by model, and not by both. Null: of_projects (all).';

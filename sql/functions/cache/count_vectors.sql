create or replace function count_vectors(of_project bigint) returns bigint
language plpgsql
stable
-- A distributed database has no row security, so the function checks access itself.
security definer
set search_path = model_proxy, pg_temp
as $$
begin
    if current_setting('role') = 'model_proxy_dashboard' and of_project not in (select visible_projects()) then
        return 0;
    end if;
    return (select count(*) from cached_vectors v where v.project_id = of_project);
end;
$$;

comment on function count_vectors(bigint) is 'How many vectors a project has in its cache; none for a user who may not see it.';

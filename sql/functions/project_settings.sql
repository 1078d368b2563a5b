create or replace function project_settings(of_project bigint) returns jsonb
language sql
stable
set search_path = public, pg_temp
as $$
    select to_jsonb(p) - array['id', 'name', 'plan', 'cache_generation', 'created_at', 'archived_at', 'equivalences_version']
    from projects p
    where p.id = of_project;
$$;

comment on function project_settings(bigint) is 'Every setting of a project by name, as set_setting() takes them; null when there is no project that the current user may see.';

create or replace function project_settings(of_project bigint) returns jsonb
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select (
        select jsonb_object_agg(s.key, s.value)
        from jsonb_each(to_jsonb(p)) s
        where s.key in (select k.name from setting_kinds k)
            or s.key in ('semantic_enabled', 'semantic_guards')
    )
    from projects p
    where p.id = of_project;
$$;

comment on function project_settings(bigint) is 'Every setting of a project by name, in the form that set_setting() accepts. Null: result (there is no project that the current user may see).';

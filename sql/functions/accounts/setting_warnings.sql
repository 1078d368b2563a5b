create or replace function setting_warnings(of_project bigint, setting text default null) returns text[]
language sql
stable
set search_path = model_proxy, pg_temp
as $$
    select coalesce(
        model_name_warnings(
            of_project,
            array(
                select distinct n.name
                from (
                    select 'aliases', unnest(string_to_array(substr(a.written, strpos(a.written, '=') + 1), '|'))
                    from unnest(p.aliases) as a (written)
                    union all
                    select 'fallbacks', unnest(p.fallbacks)
                    union all
                    select 'semantic_judge_model', nullif(p.semantic_judge_model, '')
                    union all
                    select d.of_setting, substring(unnest(d.durations) from '^(.*)=')
                    from (values
                        ('first_token_timeout_ms', p.first_token_timeout_ms),
                        ('idle_timeout_ms', p.idle_timeout_ms),
                        ('response_timeout_ms', p.response_timeout_ms)
                    ) as d (of_setting, durations)
                ) n (of_setting, name)
                where n.name is not null
                    and (setting is null or n.of_setting = setting)
                order by n.name
            )
        )
        || case
            when setting is null or setting = 'allowed_models' then
                model_name_warnings(of_project, p.allowed_models, array(select split_part(a.written, '=', 1) from unnest(p.aliases) as a (written)))
            else '{}'
        end,
        '{}'
    )
    from projects p
    where p.id = of_project;
$$;

comment on function setting_warnings(bigint, text) is
    'model_name_warnings() of the models in a project''s settings, or in one of them: aliases, fallbacks, semantic_judge_model, allowed_models, and those with timeouts. Null: setting (all), result (there is no project that the current user may see).';

create or replace function set_setting(project text, setting text, value text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'member');
    into_column text := setting;
    given text := value;
    column_type text;
    warning text;
    former jsonb;
begin
    -- semantic_enabled and semantic_guards are boolean forms of semantic_mode and semantic_policy.
    if setting in ('semantic_enabled', 'semantic_guards') then
        begin
            select
                case setting when 'semantic_enabled' then 'semantic_mode' else 'semantic_policy' end,
                case
                    when value::boolean is null then null
                    when setting = 'semantic_enabled' then case when value::boolean then 'on' else 'off' end
                    when not value::boolean then 'threshold'
                    -- A policy that already requires more than similarity stays.
                    when p.semantic_policy = 'threshold' then 'verified'
                    else p.semantic_policy
                end
            into into_column, given
            from projects p
            where p.id = owner_id;
        exception
            when invalid_text_representation then
                given := null;
        end;
        if given is null then
            raise exception 'value % is not valid for setting %: use true or false', quote_for_message(value), setting
                using errcode = 'invalid_parameter_value';
        end if;
    end if;

    perform check_setting(into_column, given);
    former := project_settings(owner_id) -> into_column;
    select format_type(a.atttypid, a.atttypmod) into column_type
    from pg_attribute a
    where a.attrelid = 'projects'::regclass
        and a.attname = into_column;
    execute format(
        'update projects set %I = %s where id = $2',
        into_column,
        case column_type when 'text[]' then 'parse_model_names($1)' else '$1::' || column_type end
    )
    using given, owner_id;

    if into_column = 'log_content' and given = 'off' then
        delete from request_contents c
        using api_keys k
        where c.project_id = owner_id and k.id = c.key_id and k.log_content is null;
        update semantic_hits h set sealed_wording = null
        where h.project_id = owner_id
            and h.sealed_wording is not null
            and not exists (select from api_keys k where k.id = h.key_id and k.log_content = 'sealed');
    end if;
    perform audit(
        'project.updated', owner_id, 'proj_' || owner_id,
        jsonb_build_object('setting', into_column, 'value', project_settings(owner_id) -> into_column, 'was', former)
    );
    foreach warning in array setting_warnings(owner_id, into_column) loop
        raise warning '%', warning;
    end loop;
end;
$$;

comment on function set_setting(text, text, text) is 'Sets one setting of a project, a row of setting_kinds, from the next request on. semantic_enabled and semantic_guards are other names for on and off of semantic_mode, and for threshold of semantic_policy. Raises on an unknown project or setting and on a value that the setting does not accept, and warns of models that no request has matched.';

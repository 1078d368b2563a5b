create or replace function set_setting(project text, setting text, value text) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    owner_id bigint := open_project(project, 'member');
begin
    case setting
        when 'semantic_enabled' then
            update projects p set semantic_enabled = value::boolean where p.id = owner_id;
        when 'semantic_guards' then
            update projects p set semantic_guards = value::boolean where p.id = owner_id;
        when 'semantic_threshold' then
            update projects p set semantic_threshold = value::double precision where p.id = owner_id;
        when 'cache_ttl_seconds' then
            update projects p set cache_ttl_seconds = value::integer where p.id = owner_id;
        when 'cache_bytes' then
            update projects p set cache_bytes = value::bigint where p.id = owner_id;
        when 'fallbacks' then
            update projects p set fallbacks = parse_model_names(value) where p.id = owner_id;
        else
            raise exception 'setting % does not exist; settings are: semantic_enabled, semantic_threshold, semantic_guards, cache_ttl_seconds, cache_bytes, fallbacks', quote_for_message(setting)
                using errcode = 'invalid_parameter_value';
    end case;
    perform audit('project.updated', owner_id, 'proj_' || owner_id, jsonb_build_object('setting', setting, 'value', value));
exception
    when invalid_text_representation or numeric_value_out_of_range or check_violation or not_null_violation then
        raise exception 'value % is not valid for setting %: it takes %', quote_for_message(value), setting,
            case setting
                when 'semantic_threshold' then 'a number from 0.0 to 1.0'
                when 'cache_ttl_seconds' then 'whole seconds from 0 to 315360000'
                when 'cache_bytes' then 'whole bytes from 0'
                when 'fallbacks' then 'up to 5 different model names with commas between them, or nothing'
                else 'true or false'
            end
            using errcode = 'invalid_parameter_value';
end;
$$;

comment on function set_setting(text, text, text) is 'Sets one setting of a project, from the next request on. Raises on an unknown project or setting and on a value out of range.';

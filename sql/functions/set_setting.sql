create or replace function set_setting(project text, setting text, value text) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    owner_id bigint := open_project(project, 'member');
begin
    case setting
        when 'semantic_mode' then
            update projects p set semantic_mode = value where p.id = owner_id;
        when 'semantic_enabled' then
            update projects p set semantic_mode = case value::boolean when true then 'on' when false then 'off' end where p.id = owner_id;
        when 'semantic_policy' then
            update projects p set semantic_policy = value where p.id = owner_id;
        when 'semantic_guards' then
            -- On means proof, unless the project's policy requires proof already and accepts more besides.
            update projects p
            set semantic_policy = case value::boolean
                when true then case p.semantic_policy when 'judged' then 'judged' else 'proved' end
                when false then 'threshold'
            end
            where p.id = owner_id;
        when 'semantic_threshold' then
            update projects p set semantic_threshold = value::double precision where p.id = owner_id;
        when 'semantic_judge' then
            update projects p set semantic_judge = value where p.id = owner_id;
        when 'semantic_judge_model' then
            update projects p set semantic_judge_model = value where p.id = owner_id;
        when 'semantic_judge_daily_usd' then
            update projects p set semantic_judge_daily_usd = value::double precision where p.id = owner_id;
        when 'semantic_judge_floor' then
            update projects p set semantic_judge_floor = value::double precision where p.id = owner_id;
        when 'semantic_judge_timeout_ms' then
            update projects p set semantic_judge_timeout_ms = value::integer where p.id = owner_id;
        when 'semantic_error_rate' then
            update projects p set semantic_error_rate = value::double precision, learned_threshold = 2 where p.id = owner_id;
            perform learn_thresholds();
        when 'semantic_learn_after' then
            update projects p set semantic_learn_after = value::integer where p.id = owner_id;
        when 'semantic_verify_ratio' then
            update projects p set semantic_verify_ratio = value::double precision where p.id = owner_id;
        when 'cache_mode' then
            update projects p set cache_mode = value where p.id = owner_id;
        when 'cache_ttl_seconds' then
            update projects p set cache_ttl_seconds = value::integer where p.id = owner_id;
        when 'cache_bytes' then
            update projects p set cache_bytes = value::bigint where p.id = owner_id;
        when 'log_content' then
            update projects p set log_content = value where p.id = owner_id;
            if value = 'off' then
                update semantic_hits h set sealed_wording = null where h.project_id = owner_id and h.sealed_wording is not null;
            end if;
        when 'fallbacks' then
            update projects p set fallbacks = parse_model_names(value) where p.id = owner_id;
        when 'allowed_models' then
            update projects p set allowed_models = nullif(parse_model_names(value), '{}') where p.id = owner_id;
        else
            raise exception 'setting % does not exist; settings are: semantic_mode (or semantic_enabled), semantic_policy (or semantic_guards), semantic_threshold, semantic_judge, semantic_judge_model, semantic_judge_daily_usd, semantic_judge_floor, semantic_judge_timeout_ms, semantic_error_rate, semantic_learn_after, semantic_verify_ratio, cache_mode, cache_ttl_seconds, cache_bytes, log_content, fallbacks, allowed_models', quote_for_message(setting)
                using errcode = 'invalid_parameter_value';
    end case;
    perform audit('project.updated', owner_id, 'proj_' || owner_id, jsonb_build_object('setting', setting, 'value', value));
exception
    when invalid_text_representation or numeric_value_out_of_range or check_violation or not_null_violation then
        raise exception 'value % is not valid for setting %: it takes %', quote_for_message(value), setting,
            case setting
                when 'semantic_mode' then 'on, shadow or off'
                when 'semantic_policy' then 'proved, judged or threshold'
                when 'semantic_threshold' then 'a number from 0.0 to 1.0'
                when 'semantic_judge' then 'off, learn or inline'
                when 'semantic_judge_model' then 'a model''s name of at most 256 characters, or nothing'
                when 'semantic_judge_daily_usd' then 'US dollars from 0 to 1000000'
                when 'semantic_judge_floor' then 'a number from 0.0 to 1.0'
                when 'semantic_judge_timeout_ms' then 'whole milliseconds from 1 to 60000'
                when 'semantic_error_rate' then 'a number from 0.0 to 0.5'
                when 'semantic_learn_after' then 'whole pairs from 2 to 100'
                when 'semantic_verify_ratio' then 'a number from 0.0 to 1.0'
                when 'cache_mode' then 'all, deterministic or off'
                when 'cache_ttl_seconds' then 'whole seconds from 0 to 315360000'
                when 'cache_bytes' then 'whole bytes from 0'
                when 'log_content' then 'off or sealed'
                when 'fallbacks' then 'up to 5 different model names with commas between them, or nothing'
                when 'allowed_models' then 'up to 100 different model names with commas between them, * in them for any characters, or nothing'
                else 'true or false'
            end
            using errcode = 'invalid_parameter_value';
end;
$$;

comment on function set_setting(text, text, text) is 'Sets one setting of a project, from the next request on. semantic_enabled and semantic_guards are other names for on and off of semantic_mode, and for proved and threshold of semantic_policy. Raises on an unknown project or setting and on a value out of range.';

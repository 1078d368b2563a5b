create or replace function set_settings(project text, settings jsonb) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    setting record;
begin
    for setting in
        select s.key as name, s.value as given from jsonb_each(settings) s order by s.key
    loop
        perform set_setting(
            project,
            setting.name,
            case jsonb_typeof(setting.given)
                when 'array' then (select coalesce(string_agg(item, ','), '') from jsonb_array_elements_text(setting.given) item)
                else setting.given #>> '{}'
            end
        );
    end loop;
end;
$$;

comment on function set_settings(text, jsonb) is 'Sets several settings of a project, or none when one is invalid; a list of names may be an array. Raises as set_setting() does.';

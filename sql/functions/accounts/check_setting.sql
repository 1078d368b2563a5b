create or replace function check_setting(setting text, value text) returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    kind setting_kinds;
    fits boolean;
begin
    select k.* into kind from setting_kinds k where k.name = setting;
    if kind.name is null then
        raise exception 'setting % does not exist; settings are: %', quote_for_message(setting), (
            select string_agg(k.name, ', ' order by k.name !~ '^semantic_', k.name) from setting_kinds k
        )
            using errcode = 'invalid_parameter_value';
    end if;
    begin
        fits := case kind.type
            when 'choice' then value = any (kind.words)
            when 'number' then value::double precision >= kind.least and value::double precision <= coalesce(kind.most, 'infinity')
            when 'whole' then value::bigint >= kind.least and value::bigint <= coalesce(kind.most, 9223372036854775807)
            when 'text' then length(value) <= kind.most
            when 'models' then cardinality(parse_model_names(value)) <= kind.most
            when 'aliases' then (
                select count(*) <= kind.most
                    and count(*) = count(distinct split_part(alias, '=', 1))
                    and coalesce(bool_and(alias ~ '^[^=|]+=[^=|]+(\|[^=|]+){0,5}$'), true)
                from unnest(parse_model_names(value)) alias
            )
            when 'contexts' then (
                select count(*) <= kind.most
                    and count(*) = count(distinct split_part(context, '=', 1))
                    and coalesce(bool_and(context ~ '^[0-9a-f]{16}=(question|wording)$'), true)
                from unnest(parse_model_names(value)) context
            )
            when 'durations' then (
                select count(*) <= 100
                    and count(*) = count(distinct coalesce(substring(duration from '^(.*)='), ''))
                    and coalesce(bool_and(
                        duration ~ '^(.+=)?[0-9]{1,9}$'
                        and substring(duration from '[0-9]*$')::bigint between kind.least and kind.most
                    ), true)
                from unnest(parse_model_names(value)) duration
            )
        end;
    exception
        when invalid_text_representation or numeric_value_out_of_range then
            fits := false;
    end;
    if fits is not true then
        raise exception 'value % is not valid for setting %: use %', quote_for_message(value), setting,
            case kind.type
                when 'choice' then array_to_string(trim_array(kind.words, 1), ', ') || ' or ' || kind.words[cardinality(kind.words)]
                when 'number' then format(case when kind.most <= 1 then '%s from %s.0 to %s.0' else '%s from %s to %s' end, kind.words[1], kind.least, kind.most)
                when 'whole' then kind.words[1] || ' from ' || array_to_string(array[kind.least, kind.most]::text[], ' to ')
                else kind.words[1]
            end
            using errcode = 'invalid_parameter_value';
    end if;
end;
$$;

comment on function check_setting(text, text) is 'Raises, with a description of valid values, unless the setting exists and accepts the value.';

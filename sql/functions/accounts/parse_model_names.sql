create or replace function parse_model_names(listed text) returns text[]
language plpgsql
immutable
set search_path = model_proxy, pg_temp
as $$
declare
    names text[];
begin
    if btrim(listed) = '' then
        return '{}';
    end if;
    select array_agg(btrim(name) order by position) into names
    from string_to_table(listed, ',') with ordinality as given (name, position);
    if names is null
        or exists (select 1 from unnest(names) as name where name !~ '^[^[:cntrl:][:space:]]+$' or char_length(name) > 256)
        or cardinality(names) > (select count(distinct name) from unnest(names) as name)
    then
        raise exception 'not a list of model names' using errcode = 'invalid_text_representation';
    end if;
    return names;
end;
$$;

comment on function parse_model_names(text) is 'Distinct model names separated by commas, in order. Raises invalid_text_representation on anything else; empty text is no model.';

create or replace function set_budget(
    project text,
    in_unit text,
    of_amount numeric,
    in_per text,
    of_key bigint default null,
    of_model text default null,
    of_tag text default null,
    in_zone text default 'UTC'
)
returns bigint
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_column
declare
    owner_id bigint := require_budget_owner(project);
    tagged jsonb;
    aliased text;
    set_id bigint;
    warning text;
begin
    if in_unit is null or in_unit not in ('usd', 'tokens') then
        raise exception 'a budget is in usd or in tokens' using errcode = 'invalid_parameter_value';
    end if;
    if in_per is null or in_per not in ('day', 'week', 'month', 'total') then
        raise exception 'period % is not valid: use day, week, month or total', quote_for_message(in_per)
            using errcode = 'invalid_parameter_value';
    end if;
    -- Reading all time zone names from disk takes 80 ms.
    if in_zone is distinct from 'UTC' and not exists (select from pg_timezone_names z where z.name = in_zone) then
        raise exception 'time zone % does not exist; give a name such as Europe/Vienna', quote_for_message(in_zone)
            using errcode = 'invalid_parameter_value';
    end if;
    if owner_id is null and coalesce(of_key::text, of_model, of_tag) is not null then
        raise exception 'a budget of the organization cannot have a key, model or tag'
            using errcode = 'invalid_parameter_value';
    end if;
    if of_tag is not null then
        if of_tag !~ '^[A-Za-z][A-Za-z0-9_.-]{0,31}=(?=.{1,64}$)[A-Za-z0-9_.:/@+-]+( [A-Za-z0-9_.:/@+-]+)*$' then
            raise exception 'tag % is not valid: use a name and a value, as in team=search', quote_for_message(of_tag)
                using errcode = 'invalid_parameter_value';
        end if;
        tagged := jsonb_build_object(split_part(of_tag, '=', 1), substr(of_tag, strpos(of_tag, '=') + 1));
    end if;
    if of_key is not null and not exists (select from api_keys k where k.id = of_key and k.project_id = owner_id) then
        raise exception 'project % has no such key', quote_for_message(project) using errcode = 'no_data_found';
    end if;
    if of_model is not null and (of_model !~ '^[^[:cntrl:]]+$' or length(of_model) > 256) then
        raise exception 'model % is not valid: 1 to 256 printable characters', quote_for_message(of_model)
            using errcode = 'invalid_parameter_value';
    end if;
    of_key := resolve_rotated_key(of_key);
    if of_amount is not null then
        select split_part(split_part(a.written, '=', 2), '|', 1) into aliased
        from projects p
        cross join lateral unnest(p.aliases) as a (written)
        where p.id = owner_id
            and starts_with(a.written, of_model || '=');
        if aliased is not null then
            raise exception 'model % is an alias of this project, which counts as what it stands for: name %',
                quote_for_message(of_model), quote_for_message(aliased)
                using errcode = 'invalid_parameter_value';
        end if;
    end if;

    if of_amount is null then
        select b.id into set_id
        from budgets b
        where b.project_id is not distinct from owner_id
            and (b.unit, b.per, coalesce(b.key_id, 0), coalesce(b.model, ''), coalesce(b.tag, '{}'))
                = (in_unit, in_per, coalesce(of_key, 0), coalesce(of_model, ''), coalesce(tagged, '{}'));
        perform remove_budget(project, set_id);
        return null;
    end if;
    if not (of_amount >= 0 and round(of_amount, 9) < 1e9) or in_unit = 'tokens' and of_amount <> trunc(of_amount) then
        raise exception '% is not valid: use %', in_unit,
            case in_unit when 'usd' then 'US dollars from 0 to below 1,000,000,000' else 'a whole number from 0 to below 1,000,000,000' end
            using errcode = 'invalid_parameter_value';
    end if;

    set_id := upsert_budget(owner_id, in_unit, of_amount, in_per, of_key, of_model, tagged, in_zone, true);
    perform audit(
        'budget.set', owner_id, 'budget_' || set_id,
        jsonb_build_object(
            'unit', in_unit, 'amount', of_amount, 'per', in_per, 'key_id', of_key, 'api_key', find_target_name('key_' || of_key),
            'model', of_model, 'tag', of_tag
        )
    );
    foreach warning in array budget_warnings(set_id) loop
        raise warning '%', warning;
    end loop;
    return set_id;
end;
$$;

comment on function set_budget(text, text, numeric, text, bigint, text, text, text) is
    'Sets how much a project may spend, in total or with one key, model or tag (name=value), or for null how much the organization may spend in total, from the next request on, and returns the budget''s id. The same scope, unit and period is the same budget; the amount null removes it. Raises on invalid values, and warns of names that no request has matched. Null: of_amount (it is removed).';

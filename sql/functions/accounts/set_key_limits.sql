create or replace function set_key_limits(of_key bigint, limits jsonb) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := (select k.project_id from api_keys k where k.id = of_key);
    listed text;
    models text[];
    networks cidr[];
    rate text;
    warning text;
begin
    if owner_id is null then
        raise exception 'API key key_% does not exist', of_key using errcode = 'no_data_found';
    end if;
    perform authorize(owner_id, 'owner');
    of_key := resolve_rotated_key(of_key);
    foreach rate in array array['requests_per_minute', 'tokens_per_minute'] loop
        if limits ->> rate !~ '^[1-9][0-9]{0,8}$' then
            raise exception '% is not valid: use a whole number from 1 to 999999999', rate using errcode = 'invalid_parameter_value';
        end if;
    end loop;
    if jsonb_typeof(limits -> 'allowed_models') = 'array' then
        listed := (select string_agg(item, ',') from jsonb_array_elements_text(limits -> 'allowed_models') item);
        if coalesce(btrim(listed), '') = '' then
            raise exception 'allowed_models is not valid: use at least one name; null for all that the project allows'
                using errcode = 'invalid_parameter_value';
        end if;
        perform check_setting('allowed_models', listed);
        models := parse_model_names(listed);
    end if;
    if jsonb_typeof(limits -> 'allowed_addresses') = 'array' then
        networks := parse_networks(array(select jsonb_array_elements_text(limits -> 'allowed_addresses')));
        if cardinality(networks) not between 1 and 100 then
            raise exception 'allowed_addresses is not valid: use 1 to 100 addresses or networks; null for any address'
                using errcode = 'invalid_parameter_value';
        end if;
    end if;
    update api_keys k
    set requests_per_minute = case when limits ? 'requests_per_minute' then (limits ->> 'requests_per_minute')::integer else k.requests_per_minute end,
        tokens_per_minute = case when limits ? 'tokens_per_minute' then (limits ->> 'tokens_per_minute')::integer else k.tokens_per_minute end,
        allowed_models = case when limits ? 'allowed_models' then models else k.allowed_models end,
        allowed_addresses = case when limits ? 'allowed_addresses' then networks else k.allowed_addresses end
    where of_key in (k.id, k.replaced_by);
    perform audit(
        'api_key.updated', owner_id, 'key_' || of_key,
        limits || jsonb_build_object('removed', (select jsonb_agg(l.key) from jsonb_each(limits) l where l.value = 'null'))
    );
    if models is not null then
        foreach warning in array (select k.warnings from project_api_keys k where k._id = of_key) loop
            raise warning '%', warning;
        end loop;
    end if;
end;
$$;

comment on function set_key_limits(bigint, jsonb) is
    'Changes the given limits of a key and its former values, from the next request on: requests_per_minute, tokens_per_minute, allowed_models and allowed_addresses (arrays of text); for null, those of the plan and the project apply. Requires an owner of its project, and warns of models that no request has matched.';

create or replace function find_key(key_or_prefix text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    -- Displayed prefixes end in an ellipsis, which may be copied as one character or as three dots.
    wanted text := regexp_replace(coalesce(key_or_prefix, ''), '(…|\.{3})$', '');
    shown constant text := quote_for_message(left(wanted, 17));
    matching bigint[];
    alike text[];
begin
    select array_agg(id) into matching
    from api_keys
    where key_hash = sha256(convert_to(wanted, 'UTF8')) or prefix = wanted;

    -- Only the prefix of a mistyped key may reach a log.
    if matching is null then
        -- A truncated key can only be compared by its prefix, because only hashes of whole keys are stored.
        select array_agg(format('%s of the project %s', quote_for_message(k.name), quote_for_message(p.name)) order by k.id) into alike
        from api_keys k
        join projects p on p.id = k.project_id
        where k.prefix = left(wanted, 17);
        if cardinality(alike) = 1 then
            raise exception 'no such key: it begins with %, as the key % does, but is not the whole of that; give these 17 characters alone, or the whole key', shown, alike[1]
                using errcode = 'no_data_found';
        end if;
        if cardinality(alike) > 1 then
            raise exception 'no such key: several keys begin with %, and it is none of them; give a whole key', shown
                using errcode = 'no_data_found';
        end if;
        raise exception 'no such key: %; give a whole key, or the prefix that list-keys.sql shows', shown using errcode = 'no_data_found';
    end if;
    if array_length(matching, 1) > 1 then
        raise exception 'several keys begin with %; give the whole key', shown using errcode = 'cardinality_violation';
    end if;
    return matching[1];
end;
$$;

comment on function find_key(text) is 'Id of the one key that is given whole or by its displayed prefix. Raises when no key or several match.';

create or replace function find_key(key_or_prefix text) returns bigint
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
declare
    -- Shown prefixes end in an ellipsis, which may be copied in either form.
    wanted text := regexp_replace(coalesce(key_or_prefix, ''), '(…|\.{3})$', '');
    matching bigint[];
begin
    select array_agg(id) into matching
    from api_keys
    where key_hash = sha256(convert_to(wanted, 'UTF8')) or prefix = wanted;

    -- Only the prefix of a mistyped key may reach a log.
    if matching is null then
        raise exception 'no such key: %; give a whole key, or the prefix that list-keys.sql shows', quote_for_message(left(wanted, 17))
            using errcode = 'no_data_found';
    end if;
    if array_length(matching, 1) > 1 then
        raise exception 'several keys begin with %; give the whole key', quote_for_message(left(wanted, 17))
            using errcode = 'cardinality_violation';
    end if;
    return matching[1];
end;
$$;

comment on function find_key(text) is 'Id of the one key that is given whole or by its displayed prefix. Raises when no key or several match.';

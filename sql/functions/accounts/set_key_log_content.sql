create or replace function set_key_log_content(key_or_prefix text, value text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    of_key constant bigint := resolve_rotated_key(find_key(key_or_prefix));
    owner_id constant bigint := (select k.project_id from api_keys k where k.id = of_key);
begin
    perform authorize(owner_id, 'member');
    if value not in ('off', 'sealed') then
        raise exception 'log_content must be off, sealed, or null for what the project has' using errcode = 'invalid_parameter_value';
    end if;
    -- Includes the key's former values.
    update api_keys k set log_content = value where of_key in (k.id, k.replaced_by);
    if value = 'off' then
        delete from request_contents c where c.key_id = of_key;
        update semantic_hits h set sealed_wording = null where h.project_id = owner_id and h.key_id = of_key and h.sealed_wording is not null;
    end if;
    perform audit('api_key.updated', owner_id, 'key_' || of_key, jsonb_build_object('log_content', value, 'removed', case when value is null then jsonb_build_array('log_content') end));
end;
$$;

comment on function set_key_log_content(text, text) is 'Sets whether the contents of a key''s requests are stored: off (stored contents are deleted) or sealed; null: the setting of its project. Raises on an unknown key.';

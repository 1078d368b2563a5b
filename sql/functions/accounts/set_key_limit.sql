create or replace function set_key_limit(of_key bigint, per_minute integer) returns void
language plpgsql
volatile
set search_path = public, pg_temp
as $$
declare
    owner_id bigint := (select k.project_id from api_keys k where k.id = of_key);
begin
    if owner_id is null then
        raise exception 'API key key_% does not exist', of_key using errcode = 'no_data_found';
    end if;
    perform authorize(owner_id, 'owner');
    -- A former value stands for its key.
    of_key := coalesce((select k.replaced_by from api_keys k where k.id = of_key), of_key);
    if per_minute <= 0 then
        raise exception 'requests_per_minute is not valid: it takes a whole number from 1 on' using errcode = 'invalid_parameter_value';
    end if;
    update api_keys k set requests_per_minute = per_minute where of_key in (k.id, k.replaced_by);
    perform audit('api_key.updated', owner_id, 'key_' || of_key, jsonb_build_object('requests_per_minute', per_minute));
end;
$$;

comment on function set_key_limit(bigint, integer) is
    'Limits a key to fewer requests a minute than its plan allows, from the next request on; null: the plan''s limit. Takes an owner of its project.';

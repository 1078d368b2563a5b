create or replace function require_key_name(given text) returns void
language plpgsql
immutable
set search_path = model_proxy, pg_temp
as $$
begin
    if given is null or given !~ '^[^[:cntrl:]]{1,100}$' then
        raise exception 'key name % is not valid: 1 to 100 printable characters', quote_for_message(given)
            using errcode = 'invalid_parameter_value';
    end if;
end;
$$;

comment on function require_key_name(text) is 'Raises if the value cannot be the name of a key.';

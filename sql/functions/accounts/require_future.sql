create or replace function require_future(expires timestamptz) returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    if expires <= now() then
        raise exception 'expiry % is in the past', to_char(expires at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            using errcode = 'invalid_parameter_value';
    end if;
end;
$$;

comment on function require_future(timestamptz) is 'Raises if the expiry is in the past. Null: expires (never).';

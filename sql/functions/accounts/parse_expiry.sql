create or replace function parse_expiry(value text) returns timestamptz
language plpgsql
stable
set search_path = model_proxy, pg_temp
-- A date without a time zone has the same meaning for every operator.
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
as $$
declare
    expires timestamptz;
begin
    expires := nullif(value, '')::timestamptz;
    if not isfinite(expires) then
        raise invalid_datetime_format;
    end if;
    return expires;
exception
    when invalid_datetime_format or datetime_field_overflow or invalid_parameter_value then
        raise exception 'expiry % is not a date or time: write 2027-01-01 or 2027-01-01T12:00:00Z', quote_for_message(value)
            using errcode = 'invalid_parameter_value';
end;
$$;

comment on function parse_expiry(text) is 'Parses a date or time, in UTC unless it has another zone. Returns null for an empty value.';

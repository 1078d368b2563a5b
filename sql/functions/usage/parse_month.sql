create or replace function parse_month(value text) returns date
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    if coalesce(value, '') = '' then
        return current_month();
    end if;
    if value !~ '^[0-9]{4}-(0[1-9]|1[0-2])$' or value like '0000%' then
        raise exception 'month % is not valid: write it as 2026-10', quote_for_message(value) using errcode = 'invalid_parameter_value';
    end if;
    return to_date(value, 'YYYY-MM');
end;
$$;

comment on function parse_month(text) is 'First day of a month that an operator typed as YYYY-MM; the current month when it is empty.';

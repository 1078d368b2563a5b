create or replace function set_plan_limits(plan text, limits jsonb) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
#variable_conflict use_variable
begin
    perform require_administrator();
    perform require_plan(plan);
    update plans p
    set requests_per_minute_per_key = coalesce((limits ->> 'requests_per_minute_per_key')::integer, p.requests_per_minute_per_key),
        requests_per_minute_per_address = coalesce((limits ->> 'requests_per_minute_per_address')::integer, p.requests_per_minute_per_address),
        requests_per_month = coalesce((limits ->> 'requests_per_month')::bigint, p.requests_per_month),
        tokens_per_minute_per_key = case
            when limits ? 'tokens_per_minute_per_key' then (limits ->> 'tokens_per_minute_per_key')::integer
            else p.tokens_per_minute_per_key
        end,
        test_requests_per_minute = coalesce((limits ->> 'test_requests_per_minute')::integer, p.test_requests_per_minute),
        test_requests_per_month = coalesce((limits ->> 'test_requests_per_month')::bigint, p.test_requests_per_month)
    where p.name = plan;
exception
    when check_violation or numeric_value_out_of_range or invalid_text_representation then
        raise exception 'a limit is a whole number: 1 or more a minute, 0 or more a month' using errcode = 'invalid_parameter_value';
end;
$$;

comment on function set_plan_limits(text, jsonb) is 'Changes the given limits of a plan, for all projects on it, from the next request on. Requires an administrator.';

create or replace function require_plan(plan text) returns void
language plpgsql
stable
set search_path = model_proxy, pg_temp
as $$
begin
    if not exists (select 1 from plans p where p.name = require_plan.plan) then
        raise exception 'plan % does not exist; plans are: %',
            quote_for_message(plan), (select string_agg(p.name, ', ' order by p.requests_per_month, p.name) from plans p)
            using errcode = 'no_data_found';
    end if;
end;
$$;

comment on function require_plan(text) is 'Raises no_data_found, naming all plans, when there is no plan of that name.';

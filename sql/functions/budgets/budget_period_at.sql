create or replace function budget_period_at(per text, zone text, at timestamptz) returns table (begins timestamptz, ends timestamptz)
language plpgsql
stable
set search_path = model_proxy, pg_temp
rows 1
as $$
declare
    step interval;
    local timestamp;
begin
    if per = 'total' then
        return query values ('epoch'::timestamptz, 'infinity'::timestamptz);
        return;
    end if;
    step := '1 ' || per;
    local := date_trunc(per, at at time zone zone);
    begins := resolve_local_time(local, zone);
    ends := resolve_local_time(local + step, zone);
    -- If the clock was set back across midnight, the day that had begun continues.
    if at >= ends then
        begins := ends;
        ends := resolve_local_time(local + 2 * step, zone);
    end if;
    return next;
end;
$$;

comment on function budget_period_at(text, text, timestamptz) is
    'The day, week (from Monday) or month of a time zone that contains a moment, from its first moment to the first one after it; for a total, all time. Every moment is in exactly one of them, even if midnight occurs twice, or never.';

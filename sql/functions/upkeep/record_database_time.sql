create or replace function record_database_time() returns integer
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    seen timestamptz;
    stepped_back integer;
begin
    select i.seen_at into seen from installation i for update skip locked;
    if not found then
        return 0;
    end if;
    stepped_back := greatest(0, floor(extract(epoch from seen - now())));
    if stepped_back > 60 then
        perform correct_future_timestamps();
    end if;
    -- A clock that is set forward by a year is trusted after two months, by when the mistake should have been noticed. After a year without
    -- proxies, expired rows are deleted equally late, which does no harm.
    update installation i
    set seen_at = now(),
        retention_clock_at = case
            when now() < i.retention_clock_at + interval '31 days' then now()
            else i.retention_clock_at + 5 * greatest(interval '0', least(now() - seen, interval '2 minutes'))
        end;
    return stepped_back;
end;
$$;

comment on function record_database_time() is
    'Called every minute. If the clock has stepped back by more than a minute, corrects timestamps that are now in the future. Returns by how many seconds it stepped back.';

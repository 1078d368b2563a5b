create or replace function redate_future() returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    -- What is dated later was dated by a clock that ran ahead.
    latest constant timestamptz := now() + interval '1 minute';
    wrong record;
begin
    for wrong in
        select w.place, w.dated, w.ends
        from (
            values
                ('api_keys', 'created_at', 'expires_at'),
                ('api_keys', 'last_used_at', null),
                ('admin_keys', 'created_at', 'expires_at'),
                ('admin_keys', 'last_used_at', null),
                ('sessions', 'created_at', 'expires_at'),
                ('sessions', 'last_seen_at', null),
                ('invitations', 'created_at', 'expires_at'),
                ('login_attempts', 'first_at', null),
                ('events', 'at', null),
                ('judge_queue', 'queued_at', 'not_before'),
                ('semantic_hits', 'served_at', null),
                ('cache_verdicts', 'given_at', 'expires_at'),
                ('admission_slots', 'used_at', null),
                ('batch_ledger', 'taken_at', null),
                ('budget_reservations', 'presumed_at', null),
                ('cached_vectors', 'created_at', 'expires_at'),
                ('cache_prompts', 'created_at', 'expires_at'),
                ('cache_entries', 'created_at', 'expires_at')
        ) as w (place, dated, ends)
    loop
        begin
            -- It was made now, and ends as long after that as it was to.
            execute format(
                'update %1$I set %2$I = %3$L%4$s where %2$I > %5$L',
                wrong.place,
                wrong.dated,
                now(),
                case when wrong.ends is null then '' else format(', %1$I = %1$I - (%2$I - %3$L::timestamptz)', wrong.ends, wrong.dated, now()) end,
                latest
            );
        exception
            when query_canceled then
                raise warning '% was not looked through in time', wrong.place;
        end;
    end loop;

    -- What is not dated ends no later than it could if it had begun now.
    for wrong in
        select w.place, w.ends, now() + w.lasts::interval as latest_end
        from (
            values
                ('budget_reservations', 'expires_at', '5 minutes'),
                ('webhooks', 'busy_until', '1 minute'),
                ('event_deliveries', 'not_before', '4 hours'),
                ('api_keys', 'minute_counted_until', '150 seconds'),
                ('kept_responses', 'expires_at', '7 days')
        ) as w (place, ends, lasts)
    loop
        execute format('update %1$I set %2$I = %3$L where %2$I > %3$L and %2$I < %4$L', wrong.place, wrong.ends, wrong.latest_end, 'infinity');
    end loop;
end;
$$;

comment on function redate_future() is
    'Dates anew what a clock dated that ran ahead and was put back: keys, sessions, leases and entries of the cache would outlive their time, and what is to wait would wait for a year. Records keep the time that they were given.';

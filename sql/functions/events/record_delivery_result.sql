create or replace function record_delivery_result(of_delivery bigint, to_url text, response_status integer, failure text) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    -- Ten hours in total.
    waits constant interval[] := array[
        '5 seconds', '1 minute', '5 minutes', '30 minutes', '1 hour', '2 hours', '3 hours', '3 hours 24 minutes'
    ]::interval[];
    is_delivered constant boolean := failure is null;
    of_webhook bigint := (select d.webhook_id from event_deliveries d where d.id = of_delivery);
    is_gone boolean;
begin
    -- The webhook is locked before its deliveries, as in the functions that claim deliveries and remove webhooks.
    update webhooks w
    set busy_until = now(),
        -- The webhook may have another address meanwhile.
        disabled_at = case when response_status = 410 and w.url = to_url then now() else w.disabled_at end
    where w.id = of_webhook
    returning response_status = 410 and w.url = to_url into is_gone;

    update event_deliveries d
    set status = response_status,
        problem = left(failure, 200),
        delivered_at = case when is_delivered then now() else d.delivered_at end,
        -- Up to a tenth later, so that deliveries that failed together are not retried together. The last failure schedules no further
        -- attempt.
        not_before = case when not is_delivered then now() + waits[d.attempts] * (1 + random() / 10) end
    where d.id = of_delivery;

    if is_gone then
        update event_deliveries d set not_before = null where d.webhook_id = of_webhook and d.not_before is not null;
    end if;
end;
$$;

comment on function record_delivery_result(bigint, text, integer, text) is
    'Ends an attempt of claim_deliveries(), which was made to that address. A failed attempt is repeated over ten hours; after a 410 the webhook receives nothing more. Null: response_status (no response), failure (the webhook accepted the event).';

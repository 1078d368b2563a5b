-- The types of webhook events. A new type needs a row here, a sentence in src/admin/webhooks/describe-event.ts, and a call of raise_event(): where the event happens, or in raise_due_events() if
-- it depends on time only.
insert into webhook_event_types (kind, happens, payload)
values
    ('api_key.created', 'an API key is created', '{key_id,name,type,prefix,expires_at}'),
    ('api_key.deactivated', 'an API key is deactivated', '{key_id,name,prefix}'),
    ('api_key.expiring', 'an API key expires in a week, or in a tenth of its lifetime if that is shorter', '{key_id,name,prefix,expires_at}'),
    (
        'budget.threshold',
        'a [budget](budgets.md) reaches 80% or 100% (once per period), or a spend alert reaches its amount (once per month)',
        '{percent,unit,used,limit,per,scope,budget_id,spend_alert_id,notification_channel}'
    ),
    ('cache.wrong_hit', 'a semantic hit is marked as wrong', '{request_id,reason,similarity}'),
    ('circuit.opened', 'the circuit breaker of a failing provider opens, at most once in ten minutes', '{provider,wait_ms}'),
    ('quota.threshold', 'the monthly quota reaches 80% or 100%', '{percent,requests,limit,key_type,month}'),
    ('webhook.test', 'a test event is requested', '{}')
on conflict (kind) do update
set happens = excluded.happens,
    payload = excluded.payload;

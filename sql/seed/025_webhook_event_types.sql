-- What a webhook can be told of. A new kind is a row here, and raise_event() where it happens; where time alone causes it, in raise_due_events().
insert into webhook_event_types (kind, happens, payload)
values
    ('api_key.created', 'a key is made', '{key_id,name,type,prefix,expires_at}'),
    ('api_key.deactivated', 'a key is deactivated', '{key_id,name,prefix}'),
    ('api_key.expiring', 'a key expires in a week, or a tenth of its shorter life is left', '{key_id,name,prefix,expires_at}'),
    (
        'budget.threshold',
        'a [budget](budgets.md) is spent to 80 or 100 %, once a period each; or an alert’s amount, once a month: then without `budget_id`, with what stands last',
        '{percent,unit,used,limit,per,budget_id,spend_alert_id,notification_channel}'
    ),
    ('cache.wrong_hit', 'somebody calls a semantic hit wrong', '{request_id,reason,similarity}'),
    ('circuit.opened', 'a provider keeps failing and is left alone: once in ten minutes', '{provider,wait_ms}'),
    ('quota.threshold', 'the month’s quota is used up to 80 or 100 %, once each', '{percent,requests,limit,key_type,month}'),
    ('webhook.test', 'somebody asks for it', '{}')
on conflict (kind) do update
set happens = excluded.happens,
    payload = excluded.payload;

-- The types of events. A new type needs a row here, a sentence in src/admin/webhooks/describe-event.ts, and a call of raise_event(): where the event happens, in raise_due_events() if it
-- depends on time only, or a row of measure_alerts() if it depends on usage. The page Alerts shows them by area, in this order, with title and summary.
insert into webhook_event_types (place, area, kind, title, summary, happens, payload)
select row_number() over (), v.*
from (values
    (
        'Spending', 'budget.threshold', 'Budget almost spent', 'A budget reaches 80% or 100%, or a spend alert its amount.',
        'a [budget](budgets.md) reaches 80% or 100% (once per period), or a spend alert reaches its amount (once per month)',
        '{percent,unit,used,limit,per,scope,budget_id,spend_alert_id,notification_channel}'::text[]
    ),
    (
        'Spending', 'spend.unusual', 'Unusual spending', 'The last 24 hours cost several times as much as a usual day.',
        'the cost of the last 24 hours exceeds a multiple of the usual day (the median of the last 14 days), and $1; again when it is back to normal',
        '{state,value_usd,limit_usd,usual_usd,requests}'
    ),
    (
        'Spending', 'quota.threshold', 'Quota almost used', 'The monthly quota of requests reaches 80% or 100%.',
        'the monthly quota reaches 80% or 100%', '{percent,requests,limit,key_type,month}'
    ),
    (
        'Reliability', 'error_rate.high', 'Many errors', 'Too many requests end with an error of a provider or the proxy (5xx).',
        'too large a share of the requests of the last half hour ends with a 5xx; again when it is back to normal',
        '{state,value_percent,limit_percent,requests}'
    ),
    (
        'Reliability', 'latency.high', 'Slow responses', 'Responses of providers take too long to begin (95th percentile).',
        'the 95th percentile of the latency of cache misses in the last half hour is too long; again when it is back to normal',
        '{state,value_ms,limit_ms,requests}'
    ),
    (
        'Reliability', 'provider.down', 'Provider down', 'Every request to a provider fails.',
        'all requests that reached a provider in the last half hour ended with a 5xx; again when it is back to normal',
        '{state,provider,value_percent,requests}'
    ),
    (
        'Reliability', 'circuit.opened', 'Provider paused', 'A provider fails so often that requests to it are paused for a moment.',
        'the circuit breaker of a failing provider opens, at most once in ten minutes', '{provider,wait_ms}'
    ),
    (
        'Cache', 'hit_rate.low', 'Cache stopped hitting', 'The hit rate of the last hour is far below that of the week.',
        'the hit rate of the last hour falls below a share of the hit rate of the last 7 days; again when it is back to normal',
        '{state,value_percent,limit_percent,usual_percent,requests}'
    ),
    (
        'Cache', 'cache.wrong_hit', 'Wrong cached response', 'A semantic hit is marked as wrong.',
        'a semantic hit is marked as wrong', '{request_id,reason,similarity}'
    ),
    (
        'API keys', 'api_key.expiring', 'API key expires soon', 'A key expires in a week, or in a tenth of its lifetime if that is shorter.',
        'an API key expires in a week, or in a tenth of its lifetime if that is shorter', '{key_id,name,prefix,expires_at}'
    ),
    ('API keys', 'api_key.created', 'API key created', 'Somebody creates a key.', 'an API key is created', '{key_id,name,type,prefix,expires_at}'),
    ('API keys', 'api_key.deactivated', 'API key deactivated', 'Somebody deactivates a key.', 'an API key is deactivated', '{key_id,name,prefix}'),
    ('', 'webhook.test', 'Test', 'A test is requested.', 'a test event is requested', '{}')
) as v (area, kind, title, summary, happens, payload)
on conflict (kind) do update
set place = excluded.place,
    area = excluded.area,
    title = excluded.title,
    summary = excluded.summary,
    happens = excluded.happens,
    payload = excluded.payload;

create or replace function event_kinds() returns text[]
language sql
immutable
set search_path = model_proxy, pg_temp
as $$
    select array[
        'api_key.created', 'api_key.deactivated', 'api_key.expiring', 'budget.threshold', 'cache.wrong_hit', 'circuit.opened',
        'quota.threshold', 'webhook.test'
    ];
$$;

comment on function event_kinds() is 'What a webhook can be told of.';

create or replace function send_test_event(project text, webhook_id bigint) returns bigint
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    -- This is the one change that is not audited.
    select require_key_permission(find_project(project));
    with raised as (
        insert into events (project_id, kind, payload)
        values (find_webhook(project, send_test_event.webhook_id, 'member'), 'webhook.test', '{}')
        returning id, project_id
    )
    insert into event_deliveries (project_id, event_id, webhook_id)
    select project_id, id, send_test_event.webhook_id from raised
    returning id;
$$;

comment on function send_test_event(text, bigint) is 'Sends a webhook.test to one webhook, and returns its delivery. Requires a member.';

create or replace function remove_webhook(project text, webhook_id bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := find_webhook(project, webhook_id, 'owner');
begin
    -- Before the deletion, while the webhook has a name.
    perform audit('webhook.deleted', owner_id, 'webhook_' || webhook_id);
    delete from webhooks w where w.id = remove_webhook.webhook_id;
end;
$$;

comment on function remove_webhook(text, bigint) is 'Removes a webhook with its pending deliveries. Requires an owner.';

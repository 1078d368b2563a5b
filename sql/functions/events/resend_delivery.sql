create or replace function resend_delivery(project text, delivery_id bigint) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := require_project_role(project, 'member');
    to_webhook bigint;
begin
    -- A manual resend enables the webhook again. It is locked before its deliveries, as in record_delivery_result().
    update webhooks w
    set disabled_at = null
    from event_deliveries d
    where d.id = resend_delivery.delivery_id
        and w.id = d.webhook_id
        and w.project_id = owner_id
    returning w.id into to_webhook;
    if to_webhook is null then
        raise exception 'there is no delivery delivery_% in project %', delivery_id, quote_for_message(project)
            using errcode = 'no_data_found';
    end if;
    update event_deliveries d set attempts = 0, not_before = now() where d.id = resend_delivery.delivery_id;
    perform audit('webhook.resent', owner_id, 'delivery_' || delivery_id);
end;
$$;

comment on function resend_delivery(text, bigint) is 'Resends a delivery under the same id, and enables its webhook again if a 410 had disabled it. Requires a member.';

create or replace function update_webhook(project text, webhook_id bigint, new_url text, new_kinds text[]) returns void
language plpgsql
volatile
set search_path = model_proxy, pg_temp
as $$
declare
    owner_id bigint := find_webhook(project, webhook_id, 'owner');
    before webhooks;
begin
    perform require_event_kinds(new_kinds);
    select * into before from webhooks w where w.id = webhook_id for no key update;
    if (before.format = 'email') <> (coalesce(new_url, before.url) like 'mailto:%') then
        raise exception 'webhook_% has the format %, which its url must fit: add another webhook instead', webhook_id, before.format
            using errcode = 'invalid_parameter_value';
    end if;
    update webhooks w
    set url = coalesce(new_url, w.url),
        kinds = coalesce(new_kinds, w.kinds),
        -- Another address has not responded with 410.
        disabled_at = case when coalesce(new_url, w.url) = w.url then w.disabled_at end
    where w.id = webhook_id;
    perform audit(
        'webhook.updated', owner_id, 'webhook_' || webhook_id,
        jsonb_strip_nulls(
            jsonb_build_object('url', case before.format when 'slack' then hide_url_path(new_url) else new_url end, 'kinds', new_kinds)
        )
    );
end;
$$;

comment on function update_webhook(text, bigint, text, text[]) is
    'Changes the address of a webhook, which enables it again if a 410 had disabled it, and the types of events it receives (empty: all). Its format and its secret stay. Requires an owner. Null: new_url, new_kinds (unchanged).';

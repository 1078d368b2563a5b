create or replace function raise_event(of_project bigint, kind text, payload jsonb, once text default null) returns void
language sql
volatile
set search_path = model_proxy, pg_temp
as $$
    with raised as (
        insert into events (project_id, kind, payload, once)
        values (of_project, raise_event.kind, jsonb_strip_nulls(raise_event.payload), raise_event.once)
        on conflict on constraint events_project_id_kind_once_key do nothing
        returning id
    )
    insert into event_deliveries (project_id, event_id, webhook_id)
    select of_project, r.id, w.id
    from raised r
    join webhooks w on w.project_id = of_project and w.disabled_at is null
    where w.kinds = '{}' or raise_event.kind = any (w.kinds);
$$;

comment on function raise_event(bigint, text, jsonb, text) is
    'Records an event of a project, which is delivered to the project''s webhooks once this transaction commits. An event with a value of once is raised a single time for this project and kind. The payload must not contain a prompt or a key.';

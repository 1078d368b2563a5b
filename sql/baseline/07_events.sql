-- What happens in projects that somebody should know, and the addresses that are told.

create table webhooks (
    id bigint generated always as identity primary key,
    project_id bigint not null
        references projects (id) on delete cascade,
    url text not null
        check (url ~ '^https?://[^[:space:]]+$' and char_length(url) <= 2048),
    kinds text[] not null,
    sealed bytea not null,
    created_at timestamptz not null default now(),
    disabled_at timestamptz,
    busy_until timestamptz not null default '-infinity'
);

create index webhooks_project_idx on webhooks (project_id);

comment on table webhooks is 'Addresses that are told of a project''s events.';
comment on column webhooks.id is 'Named in the admin API.';
comment on column webhooks.project_id is 'The project.';
comment on column webhooks.url is 'Where events are posted.';
comment on column webhooks.kinds is 'Which events; empty: all.';
comment on column webhooks.sealed is 'The secret that signs them, sealed by the proxy.';
comment on column webhooks.created_at is 'When it was added.';
comment on column webhooks.disabled_at is 'When it answered 410, and was told nothing more; null: it is told.';
comment on column webhooks.busy_until is 'Until then one process delivers to it, and no other does. Ahead: at most 1 minute.';

create table webhook_event_types (
    kind text primary key,
    happens text not null,
    payload text[] not null
);

comment on table webhook_event_types is 'What a webhook can be told of; rows of sql/seed.';
comment on column webhook_event_types.kind is 'Of what, and what happened to it.';
comment on column webhook_event_types.happens is 'What has happened then, and how often it is told, as the docs say it.';
comment on column webhook_event_types.payload is 'What is said about it: names of fields.';

create table events (
    id uuid primary key default gen_random_uuid(),
    project_id bigint not null
        references projects (id) on delete cascade,
    kind text not null
        check (kind ~ '^[a-z_]+\.[a-z_]+$'),
    once text,
    payload jsonb not null,
    raised_at timestamptz not null default now(),
    unique (project_id, kind, once)
);

create index events_raised_at_idx on events (raised_at);

comment on table events is 'What happened in projects; kept for 90 days. Written in the transaction in which it happened.';
comment on column events.id is 'webhook-id, behind msg_: the same in every attempt.';
comment on column events.project_id is 'The project.';
comment on column events.kind is 'What happened: a row of webhook_event_types.';
comment on column events.once is 'Of an event that is raised a single time: what names it, such as the key and the month; null: each time.';
comment on column events.payload is 'What there is to say about it: names and figures, never a prompt or a key.';
comment on column events.raised_at is 'When it happened.';

create table event_deliveries (
    id bigint generated always as identity primary key,
    project_id bigint not null
        references projects (id) on delete cascade,
    event_id uuid not null
        references events (id) on delete cascade,
    webhook_id bigint not null
        references webhooks (id) on delete cascade,
    attempts integer not null default 0,
    not_before timestamptz default now(),
    tried_at timestamptz,
    delivered_at timestamptz,
    status integer,
    problem text,
    unique (event_id, webhook_id)
);

create index event_deliveries_due_idx on event_deliveries (webhook_id, not_before) where not_before is not null;
create index event_deliveries_webhook_idx on event_deliveries (webhook_id, id);
create index event_deliveries_project_idx on event_deliveries (project_id, id);

comment on table event_deliveries is 'The outbox: each event for each address that is told of it.';
comment on column event_deliveries.id is 'Named in the admin API.';
comment on column event_deliveries.project_id is 'That of both, so that a page of its deliveries is read by an index.';
comment on column event_deliveries.event_id is 'The event.';
comment on column event_deliveries.webhook_id is 'The address.';
comment on column event_deliveries.attempts is 'How often it was tried.';
comment on column event_deliveries.not_before is 'When it is tried next; null: no more. Ahead: at most 4 hours.';
comment on column event_deliveries.tried_at is 'When it was last tried.';
comment on column event_deliveries.delivered_at is 'When it was taken; null: it was not yet.';
comment on column event_deliveries.status is 'The status of the last answer; null: there was none.';
comment on column event_deliveries.problem is 'Why the last attempt failed; null: it did not.';

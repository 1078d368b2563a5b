-- Events of projects, and the webhooks and e-mail addresses that receive them.

create table webhooks (
    id bigint generated always as identity primary key,
    project_id bigint not null
        references projects (id) on delete cascade,
    url text not null
        check (url ~ '^(https?://[^[:space:]]+|mailto:[^[:space:][:cntrl:]@]{1,64}@[^[:space:][:cntrl:]@]{1,190})$' and char_length(url) <= 2048),
    kinds text[] not null,
    format webhook_format not null default 'standard',
    sealed bytea not null,
    created_at timestamptz not null default now(),
    disabled_at timestamptz,
    busy_until timestamptz not null default '-infinity',
    check ((format = 'email') = (url like 'mailto:%'))
);

create index webhooks_project_idx on webhooks (project_id);

comment on table webhooks is 'Destinations of a project''s events: URLs and e-mail addresses.';
comment on column webhooks.id is 'Shown in the admin API.';
comment on column webhooks.url is 'The address to which events are posted, or mailto: and the e-mail address to which they are sent.';
comment on column webhooks.kinds is 'The types of events it receives; empty: all.';
comment on column webhooks.format is 'standard: an event as Standard Webhooks specifies; slack: a sentence, as incoming webhooks of Slack read, whose URL is a secret; email: a mail with that sentence.';
comment on column webhooks.sealed is 'The secret that signs them, sealed by the proxy. Slack and mails do not use it.';
comment on column webhooks.created_at is 'When it was added.';
comment on column webhooks.disabled_at is 'When a 410 response disabled it; null: it is active.';
comment on column webhooks.busy_until is 'Until then, only one process delivers to it. Ahead: at most 1 minute.';

create table webhook_event_types (
    kind text primary key,
    place integer not null,
    area text not null,
    title text not null,
    summary text not null,
    happens text not null,
    payload text[] not null
);

comment on table webhook_event_types is 'The types of events; rows of sql/seed.';
comment on column webhook_event_types.kind is 'The object and what happened to it, such as api_key.created.';
comment on column webhook_event_types.place is 'The order on the page Alerts.';
comment on column webhook_event_types.area is 'The heading on the page Alerts; empty: it cannot be selected.';
comment on column webhook_event_types.title is 'The name on the page Alerts, and the subject of mails.';
comment on column webhook_event_types.summary is 'One sentence for the page Alerts.';
comment on column webhook_event_types.happens is 'When the event is raised, and how often, for the docs.';
comment on column webhook_event_types.payload is 'The names of the payload''s fields.';

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

comment on table events is 'Events of projects; stored for 90 days. Written in the transaction that caused them.';
comment on column events.id is 'The webhook-id, without msg_: the same in every attempt.';
comment on column events.kind is 'The type of the event: a row of webhook_event_types.';
comment on column events.once is 'For an event that is raised only once: its unique name, such as the key and the month; null: it is raised each time.';
comment on column events.payload is 'The payload: names and figures, never a prompt or a key.';
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

comment on table event_deliveries is 'The outbox: each event for each webhook that receives it.';
comment on column event_deliveries.id is 'Shown in the admin API.';
comment on column event_deliveries.project_id is 'The project of both, so that a page of its deliveries is read by an index.';
comment on column event_deliveries.event_id is 'The event.';
comment on column event_deliveries.webhook_id is 'The webhook.';
comment on column event_deliveries.attempts is 'The number of attempts.';
comment on column event_deliveries.not_before is 'When the next attempt is made; null: none. Ahead: at most 4 hours.';
comment on column event_deliveries.tried_at is 'When the last attempt was made.';
comment on column event_deliveries.delivered_at is 'When the webhook accepted it; null: it has not yet.';
comment on column event_deliveries.status is 'The HTTP status, or the mail server''s reply code, of the last response; null: there was none, or the mail was accepted.';
comment on column event_deliveries.problem is 'Why the last attempt failed; null: it did not.';

create table active_alerts (
    project_id bigint not null
        references projects (id) on delete cascade,
    kind text not null,
    subject text not null,
    raised_at timestamptz not null,
    seen_at timestamptz not null,
    primary key (project_id, kind, subject)
);

comment on table active_alerts is 'Alerts that were raised and have not recovered, so that each is raised once.';
comment on column active_alerts.kind is 'The type of the event: a row of webhook_event_types.';
comment on column active_alerts.subject is 'The provider that is down; empty for alerts about the project.';
comment on column active_alerts.raised_at is 'When it was raised.';
comment on column active_alerts.seen_at is 'When the limit was last exceeded.';

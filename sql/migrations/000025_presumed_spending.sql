-- What processes that died had reserved counts as spent, until its record comes.

-- step: locked
lock table budget_reservations in access exclusive mode;

alter table budget_reservations add column presumed_at timestamptz;

comment on column budget_reservations.presumed_at is 'Since when the amount counts as spent, because its process is gone; null: it is reserved.';

-- step: locked
create table open_responses (
    project_id bigint not null references projects on delete cascade,
    id text not null,
    provider text not null,
    request_id text not null,
    recorded_at timestamptz not null,
    charged_at timestamptz not null,
    usd numeric(18, 9) not null,
    tokens bigint not null,
    due_at timestamptz not null default now() + interval '2 seconds',
    tries integer not null default 0,
    primary key (project_id, id)
);

create index open_responses_due_at_idx on open_responses (due_at);

alter table open_responses enable row level security;

comment on table open_responses is 'Responses whose usage is presumed, and whose provider will know it: they are made in the background, or were left. Asked for until they have one, for a day.';
comment on column open_responses.project_id is 'The project.';
comment on column open_responses.id is 'The provider''s name for the response.';
comment on column open_responses.provider is 'As in kept_objects.';
comment on column open_responses.request_id is 'As in usage_records, of the request that asked for it.';
comment on column open_responses.recorded_at is 'As in usage_records.';
comment on column open_responses.charged_at is 'A moment of the budgets'' periods that were charged.';
comment on column open_responses.usd is 'What is presumed of it, in the record and in budgets.';
comment on column open_responses.tokens is 'The same in tokens.';
comment on column open_responses.due_at is 'When it is asked for next.';
comment on column open_responses.tries is 'How often it was asked for.';

-- What may be spent.

create table budgets (
    id bigint generated always as identity primary key,
    project_id bigint
        references projects on delete cascade,
    key_id bigint references api_keys on delete cascade,
    model text,
    tag jsonb,
    unit text not null
        check (unit in ('usd', 'tokens')),
    amount numeric(18, 9) not null
        check (amount >= 0),
    per text not null
        check (per in ('day', 'week', 'month', 'total')),
    time_zone text not null default 'UTC',
    created_at timestamptz not null default now(),
    enforced boolean not null default true
);

create unique index budgets_scope_idx on budgets (project_id, unit, per, coalesce(key_id, 0), coalesce(model, ''), coalesce(tag, '{}'));
create unique index budgets_organization_idx on budgets (unit, per) where project_id is null;

comment on table budgets is 'How much may be spent. All that apply to a request must have room for it.';
comment on column budgets.id is 'Identity.';
comment on column budgets.project_id is 'The project; null: all of them together.';
comment on column budgets.key_id is 'For requests with this key alone; null for all.';
comment on column budgets.model is 'For requests that ask this model alone; null for all.';
comment on column budgets.tag is 'For requests with this tag alone, as in usage_records; null for all.';
comment on column budgets.unit is 'usd or tokens: what the amount counts.';
comment on column budgets.amount is 'How much.';
comment on column budgets.per is 'day, week (from Monday) or month of the time zone; total: once and for all.';
comment on column budgets.time_zone is 'Where days begin.';
comment on column budgets.created_at is 'When it was first set.';
comment on column budgets.enforced is 'Whether nothing is asked beyond it; false: spending is added up for alerts alone.';

create table budget_periods (
    budget_id bigint not null references budgets on delete cascade,
    begins timestamptz not null,
    spent numeric(18, 9) not null default 0,
    reserved numeric(18, 9) not null default 0,
    primary key (budget_id, begins)
) with (fillfactor = 50);

comment on table budget_periods is 'What is spent and reserved of a budget in each of its days, weeks or months.';
comment on column budget_periods.budget_id is 'The budget.';
comment on column budget_periods.begins is 'Beginning of the period; of a total, the Unix epoch.';
comment on column budget_periods.spent is 'What requests that are over have cost, in the budget''s unit.';
comment on column budget_periods.reserved is 'What requests in flight may cost at most, and what is doubtful of those that are over.';

create table budget_reservations (
    id uuid not null,
    budget_id bigint not null,
    begins timestamptz not null,
    amount numeric(18, 9) not null,
    project_id bigint not null,
    key_id bigint not null,
    request_id text not null,
    endpoint text not null,
    model text not null,
    tags jsonb,
    reserved_at timestamptz not null default now(),
    expires_at timestamptz not null,
    doubtful_at timestamptz,
    primary key (id, budget_id, begins),
    foreign key (budget_id, begins) references budget_periods on delete cascade
);

-- Those of one project are added up near its share of the organization's budgets, while these are locked.
create index budget_reservations_budget_id_idx on budget_reservations (budget_id, begins, project_id);
create index budget_reservations_expires_at_idx on budget_reservations (expires_at);
create index budget_reservations_doubtful_idx on budget_reservations (project_id, request_id) where doubtful_at is not null;

comment on table budget_reservations is 'What each request in flight may still cost, until its record settles it; then what is doubtful: what it may have cost beyond its estimate.';
comment on column budget_reservations.id is 'The request''s own, given by its process.';
comment on column budget_reservations.amount is 'Part of the period''s reserved amount.';
comment on column budget_reservations.project_id is 'The project of the request.';
comment on column budget_reservations.request_id is 'As in usage_records.';
comment on column budget_reservations.model is 'The model that was reserved for last.';
comment on column budget_reservations.reserved_at is 'When it was first reserved.';
comment on column budget_reservations.expires_at is 'In flight: five minutes ahead, renewed while its process lives; infinity for a batch. Doubtful: when it is released. Ahead: at most 6 hours.';
comment on column budget_reservations.doubtful_at is 'Since when the request is over, or its process is gone, and nobody knows whether it cost so much; null: it is in flight.';

create table spend_alerts (
    id bigint generated always as identity primary key,
    budget_id bigint not null
        references budgets on delete cascade,
    amount numeric(18, 9) not null
        check (amount >= 0),
    recipients text[] not null,
    subject_prefix text,
    created_at timestamptz not null default now()
);

create index spend_alerts_budget_id_idx on spend_alerts (budget_id);

comment on table spend_alerts is 'Amounts that raise an event when a month has cost as much.';
comment on column spend_alerts.id is 'Named in the admin API.';
comment on column spend_alerts.budget_id is 'The budget in US dollars a month that adds up the spending.';
comment on column spend_alerts.amount is 'US dollars.';
comment on column spend_alerts.recipients is 'E-mail addresses that the event names: the proxy sends no mail.';
comment on column spend_alerts.subject_prefix is 'For the mail''s subject; null: none.';
comment on column spend_alerts.created_at is 'When it was made.';

create table unreconciled_responses (
    project_id bigint not null references projects on delete cascade,
    id text not null,
    provider text not null,
    request_id text not null,
    recorded_at timestamptz not null,
    charged_at timestamptz not null,
    usd numeric(18, 9) not null,
    due_at timestamptz not null default now() + interval '2 seconds',
    tries integer not null default 0,
    primary key (project_id, id)
);

create index unreconciled_responses_due_at_idx on unreconciled_responses (due_at);

comment on table unreconciled_responses is 'Responses whose usage is estimated, and whose provider will know it: they are made in the background, or were left. Requested until they have one, for a day.';
comment on column unreconciled_responses.project_id is 'The project.';
comment on column unreconciled_responses.id is 'The provider''s name for the response.';
comment on column unreconciled_responses.provider is 'As in stored_objects.';
comment on column unreconciled_responses.request_id is 'As in usage_records, of the request that asked for it.';
comment on column unreconciled_responses.charged_at is 'A moment of the budgets'' periods that were charged.';
comment on column unreconciled_responses.usd is 'What was estimated of it, in the record and in budgets.';
comment on column unreconciled_responses.due_at is 'When it is asked for next. Ahead: at most 10 minutes.';
comment on column unreconciled_responses.tries is 'How often it was asked for.';

-- Deployed with sql/functions; the view audit_findings needs it now.
create function run_audit(from_time timestamptz, until_time timestamptz, project text) returns setof audit_finding
language sql
stable
as 'select null::audit_finding where false';

-- Budgets: limits on spending, reservations and alerts.

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

comment on table budgets is 'Limits on spending. A request must fit into all budgets that apply to it.';
comment on column budgets.id is 'Identity.';
comment on column budgets.project_id is 'The project; null: all of them together.';
comment on column budgets.key_id is 'Applies only to requests with this key; null: to all.';
comment on column budgets.model is 'Applies only to requests of this model; null: to all.';
comment on column budgets.tag is 'Applies only to requests with this tag, as in usage_records; null: to all.';
comment on column budgets.unit is 'The unit of the amount: usd or tokens.';
comment on column budgets.amount is 'The limit.';
comment on column budgets.per is 'day, week (from Monday) or month of the time zone; total: without a period.';
comment on column budgets.time_zone is 'The time zone in which days begin.';
comment on column budgets.created_at is 'When it was first set.';
comment on column budgets.enforced is 'Whether requests beyond it are rejected; false: spending is only added up for alerts.';

create table budget_periods (
    budget_id bigint not null references budgets on delete cascade,
    begins timestamptz not null,
    spent numeric(18, 9) not null default 0,
    reserved numeric(18, 9) not null default 0,
    imported numeric(18, 9) not null default 0,
    primary key (budget_id, begins)
) with (fillfactor = 50);

comment on table budget_periods is 'The spent and reserved amounts of a budget in each of its days, weeks or months.';
comment on column budget_periods.budget_id is 'The budget.';
comment on column budget_periods.begins is 'Beginning of the period; of a total, the Unix epoch.';
comment on column budget_periods.spent is 'The cost of finished requests, in the budget''s unit.';
comment on column budget_periods.imported is 'The part of the spent amount that another gateway reported when it was imported last.';
comment on column budget_periods.reserved is 'The cost bounds of requests in flight, and the doubtful amounts of finished ones.';

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

-- Reservations of one project are summed near its share of the organization's budgets, while these are locked.
create index budget_reservations_budget_id_idx on budget_reservations (budget_id, begins, project_id);
create index budget_reservations_expires_at_idx on budget_reservations (expires_at);
create index budget_reservations_doubtful_idx on budget_reservations (project_id, request_id) where doubtful_at is not null;

comment on table budget_reservations is 'The cost bound of each request in flight, until its record settles it; then its doubtful amount, which it may have cost beyond its estimate.';
comment on column budget_reservations.id is 'The id of the request''s reservations, created by its process.';
comment on column budget_reservations.amount is 'Part of the period''s reserved amount.';
comment on column budget_reservations.project_id is 'The project of the request.';
comment on column budget_reservations.request_id is 'As in usage_records.';
comment on column budget_reservations.model is 'The model of the last reservation.';
comment on column budget_reservations.reserved_at is 'When it was first reserved.';
comment on column budget_reservations.expires_at is 'In flight: five minutes ahead, renewed while its process lives; infinity for a batch. Doubtful: when it is released. Ahead: at most 6 hours.';
comment on column budget_reservations.doubtful_at is 'Since when the request has finished or its process has ended, with an unknown cost; null: it is in flight.';

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

comment on table spend_alerts is 'Amounts that raise an event when the cost of a month reaches them.';
comment on column spend_alerts.id is 'Shown in the admin API.';
comment on column spend_alerts.budget_id is 'The monthly budget in US dollars that adds up the spending.';
comment on column spend_alerts.amount is 'US dollars.';
comment on column spend_alerts.recipients is 'E-mail addresses that the event names: the proxy sends no mail.';
comment on column spend_alerts.subject_prefix is 'For the mail''s subject; null: none.';
comment on column spend_alerts.created_at is 'When it was created.';

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

comment on table unreconciled_responses is 'Responses with estimated usage that their provider will report: those generated in the background, and those whose client disconnected. Their usage is requested for up to a day.';
comment on column unreconciled_responses.project_id is 'The project.';
comment on column unreconciled_responses.id is 'The provider''s id of the response.';
comment on column unreconciled_responses.provider is 'As in stored_objects.';
comment on column unreconciled_responses.request_id is 'As in usage_records, of the request that created it.';
comment on column unreconciled_responses.charged_at is 'A time within the budgets'' periods that were charged.';
comment on column unreconciled_responses.usd is 'The estimated cost, in the record and in budgets.';
comment on column unreconciled_responses.due_at is 'When its usage is requested next. Ahead: at most 10 minutes.';
comment on column unreconciled_responses.tries is 'How often its usage was requested.';

-- Deployed with sql/functions; the view audit_findings needs it now.
create function run_audit(from_time timestamptz, until_time timestamptz, project text) returns setof audit_finding
language sql
stable
as 'select null::audit_finding where false';

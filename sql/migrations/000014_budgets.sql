-- What may be spent.

-- step: locked
lock table projects in access exclusive mode;

alter table projects add column has_budgets boolean not null default false;

comment on column projects.has_budgets is 'Whether any budget is set: without one, nothing is reserved.';

create table budgets (
    id bigint generated always as identity primary key,
    project_id bigint not null references projects on delete cascade,
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
    created_at timestamptz not null default now()
);

create unique index budgets_scope_idx on budgets (project_id, unit, per, coalesce(key_id, 0), coalesce(model, ''), coalesce(tag, '{}'));

comment on table budgets is 'How much a project may spend. All that apply to a request must have room for it.';
comment on column budgets.id is 'Identity.';
comment on column budgets.project_id is 'The project.';
comment on column budgets.key_id is 'For requests with this key alone; null for all.';
comment on column budgets.model is 'For requests that ask this model alone; null for all.';
comment on column budgets.tag is 'For requests with this tag alone, as in usage_records; null for all.';
comment on column budgets.unit is 'usd or tokens: what the amount counts.';
comment on column budgets.amount is 'How much.';
comment on column budgets.per is 'day, week (from Monday) or month of the time zone; total: once and for all.';
comment on column budgets.time_zone is 'Where days begin.';
comment on column budgets.created_at is 'When it was first set.';

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
comment on column budget_periods.reserved is 'The most that requests under way may cost.';

create table budget_reservations (
    id uuid not null,
    budget_id bigint not null,
    begins timestamptz not null,
    amount numeric(18, 9) not null,
    expires_at timestamptz not null,
    primary key (id, budget_id, begins),
    foreign key (budget_id, begins) references budget_periods on delete cascade
);

create index budget_reservations_budget_id_idx on budget_reservations (budget_id, begins);
create index budget_reservations_expires_at_idx on budget_reservations (expires_at);

comment on table budget_reservations is 'The most that each request under way may still cost, until its record settles it.';
comment on column budget_reservations.id is 'The request''s own, given by its process.';
comment on column budget_reservations.budget_id is 'As in budget_periods.';
comment on column budget_reservations.begins is 'As in budget_periods.';
comment on column budget_reservations.amount is 'Part of the period''s reserved amount.';
comment on column budget_reservations.expires_at is 'Put off as long as its process lives; infinity for a batch. Then upkeep releases it.';

alter table budgets enable row level security;
alter table budget_periods enable row level security;
alter table budget_reservations enable row level security;
create policy members_see on budgets for select using (project_id in (select visible_projects()));
create policy members_see on budget_periods for select using (budget_id in (select b.id from budgets b));

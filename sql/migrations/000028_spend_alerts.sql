-- Spend alerts, budgets of the organization, and a price for sound that a provider's cache kept.

-- step: locked
lock table budgets, model_unit_prices in access exclusive mode;

-- The release before reads and writes rows of a project alone.
-- squawk-ignore ban-drop-not-null
alter table budgets alter column project_id drop not null;
alter table budgets add column enforced boolean not null default true;
create unique index budgets_organization_idx on budgets (unit, per) where project_id is null;
create policy administrators_see on budgets for select using (project_id is null and is_administrator());

comment on table budgets is 'How much may be spent. All that apply to a request must have room for it.';
comment on column budgets.project_id is 'The project; null: all of them together.';
comment on column budgets.enforced is 'Whether nothing is asked beyond it; false: spending is added up for alerts alone.';

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

alter table spend_alerts enable row level security;
create policy members_see on spend_alerts for select using (budget_id in (select b.id from budgets b));

-- It allows all that stands there.
alter table model_unit_prices drop constraint model_unit_prices_unit_check;
alter table model_unit_prices add constraint model_unit_prices_unit_check
    check (unit in ('audio_input', 'cached_audio_input', 'audio_output', 'image_input', 'search', 'request')) not valid;

comment on column model_unit_prices.unit is 'audio_input, cached_audio_input, audio_output, image_input: tokens of sound and pictures; search: searches of the web; request: requests that were answered.';

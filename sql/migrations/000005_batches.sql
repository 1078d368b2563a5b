-- What makes a batch that is sent again, because no answer came, count once; and a name of its own for every usage record.

create table batch_ledger (
    id uuid primary key,
    taken_at timestamptz not null default now()
);

create index batch_ledger_taken_at_idx on batch_ledger (taken_at);

comment on table batch_ledger is 'Refunds and usage records that have been taken, by batch: one that comes again does nothing. Kept for a day.';
comment on column batch_ledger.id is 'Made by the proxy that sent the batch.';
comment on column batch_ledger.taken_at is 'When it came first.';

create table admission_slots (
    slot uuid primary key,
    batch bigint not null,
    month date not null,
    granted integer[] not null,
    used_at timestamptz not null default now()
) with (fillfactor = 20);

comment on table admission_slots is 'The last batch of admissions of each that a proxy has under way, and what it was granted: for when its answer is lost. A row that is written in place costs less than one for every batch.';
comment on column admission_slots.slot is 'Made by the proxy; one batch at a time has it.';
comment on column admission_slots.batch is 'Counted up with every batch of the slot.';
comment on column admission_slots.month is 'The month it was counted in.';
comment on column admission_slots.granted is 'Requests reserved for each key, in the order they were asked for.';
comment on column admission_slots.used_at is 'When the batch came. Slots that nobody has used for a day go.';

-- No default for the rows that are there, which would be rewritten; those to come get one.
alter table usage_records add column id uuid;
alter table usage_records alter column id set default gen_random_uuid();

comment on column usage_records.id is 'The record''s own name; a client may send the same X-Request-Id twice. Null before version 5 of the schema.';

-- What processes that died had reserved counts as spent, until its record comes.

-- step: locked
lock table budget_reservations in access exclusive mode;

alter table budget_reservations add column presumed_at timestamptz;

comment on column budget_reservations.presumed_at is 'Since when the amount counts as spent, because its process is gone; null: it is reserved.';

-- What to use in place of a model that its provider retires.

-- step: locked
lock table models in access exclusive mode;

alter table models add column successor text;

comment on column models.successor is 'The model that the provider recommends in its place, once retires_on is known; null: none is known.';

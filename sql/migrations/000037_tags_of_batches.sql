-- What a batch was started for. A column without a default: rows that exist are not rewritten.

-- step: locked
lock table kept_objects in access exclusive mode;

alter table kept_objects add column tags jsonb;

comment on column kept_objects.tags is 'Of a batch: the tags of the request that started it, which its usage gets. Null for none.';

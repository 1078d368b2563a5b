-- Keys with a limit of their own, and keys whose value was changed.

-- step: locked
lock table api_keys in access exclusive mode;

alter table api_keys
    add column requests_per_minute integer
        check (requests_per_minute > 0),
    add column replaced_by bigint,
    -- The column is new: there is no row to validate.
    add constraint api_keys_replaced_by_fkey foreign key (replaced_by) references api_keys on delete cascade not valid;

comment on column api_keys.requests_per_minute is 'The key''s own limit, where it is lower than its plan''s; null: the plan''s.';
comment on column api_keys.replaced_by is 'For the former value of a key that was rotated: the key, for which its requests count until it expires.';

-- step: concurrently
create index concurrently api_keys_replaced_by_idx on model_proxy.api_keys (replaced_by) where replaced_by is not null;

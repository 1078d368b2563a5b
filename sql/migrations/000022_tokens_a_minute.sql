-- Tokens a minute, beside requests a minute.

-- step: locked
lock table api_keys, plans in access exclusive mode;

alter table plans
    add column tokens_per_minute_per_key integer
        check (tokens_per_minute_per_key > 0);

alter table api_keys
    add column tokens_per_minute integer
        check (tokens_per_minute > 0);

comment on column plans.tokens_per_minute_per_key is 'Tokens of providers'' answers and of what they were asked, in any 60 seconds per project key; null: any number.';
comment on column api_keys.tokens_per_minute is 'The key''s own limit, where it is lower than its plan''s; null: the plan''s.';

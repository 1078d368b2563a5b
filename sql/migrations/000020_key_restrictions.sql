-- What a key may ask for, and where it may be used.

-- step: locked
lock table api_keys in access exclusive mode;

alter table api_keys
    add column allowed_models text[],
    add column allowed_addresses cidr[];

comment on column api_keys.allowed_models is 'Patterns of the model names that the key may ask for, * standing for any characters, within what its project allows; null: all of that. Fallbacks and the judge''s model are the project''s own choice.';
comment on column api_keys.allowed_addresses is 'Networks of the addresses that requests with the key may come from; null: any.';

-- set_key_limits() has taken its place. No release calls it.
drop function if exists set_key_limit(bigint, integer);

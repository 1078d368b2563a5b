-- Several keys of one provider for a project.

-- step: locked
lock table provider_keys in access exclusive mode;

alter table provider_keys
    add column name text not null default 'default'
        check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    add column weight integer not null default 1
        check (weight between 1 and 1000);

comment on column provider_keys.name is 'Tells a project''s keys for one provider apart; default for one that was stored without a name.';
comment on column provider_keys.weight is 'The key''s share of requests, against the others of its provider.';
comment on column provider_keys.version is 'New with every change of the project''s keys for the provider, across all projects: tells a proxy that what it opened earlier is out of date.';
comment on column kept_objects.provider is 'Who keeps it: openai, anthropic, groq or aggregator; after a slash the name of the key it was made with, unless that is default. Nothing after the slash: not made through the proxy.';

-- step: concurrently
create unique index concurrently provider_keys_name_idx on model_proxy.provider_keys (project_id, provider, name);

-- step: locked
lock table provider_keys in access exclusive mode;

alter table provider_keys
    drop constraint provider_keys_pkey,
    add constraint provider_keys_pkey primary key using index provider_keys_name_idx;

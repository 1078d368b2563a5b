-- Which version of a project's provider keys is current, who stands in for a failing model, and what models can do.

-- A few rows at most: they are rewritten in no time.
-- squawk-ignore adding-field-with-default
alter table provider_keys add column version bigint generated always as identity;

comment on column provider_keys.version is 'New with every replacement, across all projects: tells a proxy that what it opened earlier is out of date.';

alter table projects add column fallbacks text[] not null default '{}'
    constraint projects_fallbacks_few check (cardinality(fallbacks) <= 5);

comment on column projects.fallbacks is 'Models that are asked in turn, under their own names, when the wanted one cannot be reached; none by default.';

alter table models add column capabilities text[] not null default '{}'
    constraint models_capabilities_known
        check (capabilities <@ array['audio', 'files', 'images', 'reasoning', 'structured_output', 'tools']);
alter table models add column listed boolean not null default true;

comment on column models.capabilities is 'What a request may hold or ask for besides text: audio, files, images, reasoning, structured_output, tools.';
comment on column models.listed is 'Whether the provider still offers it. What is gone stays, so that what was used can be priced.';

comment on column usage_records.model is 'The model that answered: the one that was asked for, or the fallback that stood in for it.';

-- Its columns change, which `create or replace` cannot do.
drop function if exists admit(text[], integer[]);

-- Prices of what is counted apart from text: sound, pictures, searches, requests.

-- step: locked
lock table models in access exclusive mode;

create table model_unit_prices (
    provider text not null,
    model text not null,
    unit text not null
        check (unit in ('audio_input', 'audio_output', 'image_input', 'search', 'request')),
    usd numeric(12, 6) not null
        check (usd >= 0),
    source text not null,
    checked_at date not null,
    primary key (provider, model, unit),
    foreign key (provider, model) references models on delete cascade
);

comment on table model_unit_prices is 'Prices of what an answer''s usage counts apart from text. Without a row, tokens cost what text costs, and searches and requests nothing.';
comment on column model_unit_prices.provider is 'As in models.';
comment on column model_unit_prices.model is 'As in models.';
comment on column model_unit_prices.unit is 'audio_input, audio_output, image_input: tokens of sound and pictures; search: searches of the web; request: requests that were answered.';
comment on column model_unit_prices.usd is 'US dollars: for a million tokens, or for one search or request.';
comment on column model_unit_prices.source is 'Where the price was read; operator: the operator''s own, which no seed overwrites.';
comment on column model_unit_prices.checked_at is 'When it was read.';

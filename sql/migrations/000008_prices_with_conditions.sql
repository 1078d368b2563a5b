-- Prices that depend on more than the model: service tier, length of the prompt, and how long what was cached is kept.

-- step: locked
lock table models in access exclusive mode;

alter table models
    add column cache_write_hour_usd_per_million numeric(12, 6)
        check (cache_write_hour_usd_per_million >= 0),
    add column retires_on date;

comment on column models.cache_write_hour_usd_per_million is 'US dollars per million prompt tokens that the provider''s cache keeps for an hour; null: as other writes.';
comment on column models.retires_on is 'Day from which the provider does not offer it; null: none is known. From then on it is not listed.';

create table model_prices (
    provider text not null,
    model text not null,
    tier text not null
        check (tier in ('standard', 'flex', 'priority', 'ultrafast', 'fast', 'us', 'fast-us')),
    above_prompt_tokens integer not null default 0
        check (above_prompt_tokens >= 0),
    input_usd_per_million numeric(12, 6) not null
        check (input_usd_per_million >= 0),
    cached_input_usd_per_million numeric(12, 6)
        check (cached_input_usd_per_million >= 0),
    cache_write_usd_per_million numeric(12, 6)
        check (cache_write_usd_per_million >= 0),
    cache_write_hour_usd_per_million numeric(12, 6)
        check (cache_write_hour_usd_per_million >= 0),
    output_usd_per_million numeric(12, 6) not null
        check (output_usd_per_million >= 0),
    source text not null,
    checked_at date not null,
    primary key (provider, model, tier, above_prompt_tokens),
    foreign key (provider, model) references models on delete cascade,
    -- Without a condition, the price is the model's own.
    check (tier <> 'standard' or above_prompt_tokens > 0)
);

comment on table model_prices is 'Prices of a model that replace its own under a condition. Of those that apply, the one for the most prompt tokens counts.';
comment on column model_prices.provider is 'As in models.';
comment on column model_prices.model is 'As in models.';
comment on column model_prices.tier is 'The service tier that the answer names: standard, flex, priority or ultrafast; Anthropic''s speed and region: fast, us, or both as fast-us.';
comment on column model_prices.above_prompt_tokens is 'For requests with more prompt tokens than this.';
comment on column model_prices.input_usd_per_million is 'As in models.';
comment on column model_prices.cached_input_usd_per_million is 'As in models.';
comment on column model_prices.cache_write_usd_per_million is 'As in models.';
comment on column model_prices.cache_write_hour_usd_per_million is 'As in models.';
comment on column model_prices.output_usd_per_million is 'As in models.';
comment on column model_prices.source is 'Where the price was read; operator: the operator''s own, which no seed overwrites.';
comment on column model_prices.checked_at is 'When it was read.';

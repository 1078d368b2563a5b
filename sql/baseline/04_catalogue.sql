-- The catalogue: models and prices.

-- The check of this domain never changes.
-- squawk-ignore ban-create-domain-with-constraint
create domain usd_per_million as numeric(12, 6) check (value >= 0);

comment on domain usd_per_million is 'US dollars per million tokens.';

create table models (
    provider text not null,
    model text not null,
    kind text not null
        check (kind in ('chat', 'completion', 'embedding', 'image', 'moderation', 'rerank', 'speech', 'transcription')),
    context_tokens integer
        check (context_tokens > 0),
    max_output_tokens integer
        check (max_output_tokens > 0),
    input_usd_per_million usd_per_million not null,
    cached_input_usd_per_million usd_per_million,
    cache_write_usd_per_million usd_per_million,
    output_usd_per_million usd_per_million not null,
    source text not null,
    as_of date not null,
    capabilities text[] not null default '{}'
        check (capabilities <@ array['audio', 'files', 'images', 'reasoning', 'structured_output', 'tools']),
    listed boolean not null default true,
    cache_write_hour_usd_per_million usd_per_million,
    retires_on date,
    successor text,
    exceeded_limit_at timestamptz,
    primary key (provider, model)
);

comment on table models is 'The catalogue: the models of each provider and their prices. Rows of the provider ''aggregator'' are named <vendor>/<model>.';
comment on column models.provider is 'A vendor, or aggregator.';
comment on column models.model is 'The name a client sends: native for a direct provider, <vendor>/<model> for the aggregator.';
comment on column models.kind is 'The operation it serves: chat, completion, embedding, image, moderation, rerank, speech, transcription.';
comment on column models.context_tokens is 'Context window; null if the vendor does not publish it.';
comment on column models.max_output_tokens is 'Maximum length of a response; null if the vendor does not publish it.';
comment on column models.input_usd_per_million is 'US dollars per million prompt tokens.';
comment on column models.cached_input_usd_per_million is 'US dollars per million prompt tokens that the provider had cached; null: as input.';
comment on column models.cache_write_usd_per_million is 'US dollars per million prompt tokens written to the provider''s cache; null: as input.';
comment on column models.output_usd_per_million is 'US dollars per million completion tokens.';
comment on column models.source is 'The source of the price.';
comment on column models.as_of is 'When the price was read.';
comment on column models.capabilities is 'What a request may contain or request besides text: audio, files, images, reasoning, structured_output, tools.';
comment on column models.listed is 'Whether the provider still offers it. Other models stay, so that past usage has a price.';
comment on column models.cache_write_hour_usd_per_million is 'US dollars per million prompt tokens written to the provider''s cache for an hour; null: as other writes.';
comment on column models.retires_on is 'Day from which the provider does not offer it; null: none is known. From then on it is not listed.';
comment on column models.successor is 'The model that the provider recommends in its place, once retires_on is known; null: none is known.';
comment on column models.exceeded_limit_at is 'When a response first exceeded the limit of its request: since then, budgets reserve the model''s longest response, whatever limit a request sets. Null: none has; an operator may set it to null again.';

create table model_prices (
    provider text not null,
    model text not null,
    tier text not null
        check (tier in ('standard', 'flex', 'priority', 'ultrafast', 'fast', 'us', 'fast-us')),
    above_prompt_tokens integer not null default 0
        check (above_prompt_tokens >= 0),
    input_usd_per_million usd_per_million not null,
    cached_input_usd_per_million usd_per_million,
    cache_write_usd_per_million usd_per_million,
    cache_write_hour_usd_per_million usd_per_million,
    output_usd_per_million usd_per_million not null,
    source text not null,
    checked_at date not null,
    primary key (provider, model, tier, above_prompt_tokens),
    foreign key (provider, model) references models on delete cascade,
    -- A price without a condition is a column of models.
    check (tier <> 'standard' or above_prompt_tokens > 0)
);

comment on table model_prices is 'Prices of a model that replace its own under a condition. If several apply, the one with the highest above_prompt_tokens counts.';
comment on column model_prices.tier is 'The service tier in the response: standard, flex, priority or ultrafast; Anthropic''s speed and region: fast, us, or both as fast-us.';
comment on column model_prices.above_prompt_tokens is 'For requests with more prompt tokens than this.';
comment on column model_prices.source is 'The source of the price; operator: set by the operator, and not overwritten by seeds.';
comment on column model_prices.checked_at is 'When the price was read.';

create table model_unit_prices (
    provider text not null,
    model text not null,
    unit text not null
        check (unit in ('audio_input', 'cached_audio_input', 'audio_output', 'image_input', 'search', 'file_search', 'container', 'request')),
    usd numeric(12, 6) not null
        check (usd >= 0),
    source text not null,
    checked_at date not null,
    primary key (provider, model, unit),
    foreign key (provider, model) references models on delete cascade
);

comment on table model_unit_prices is 'Prices of units that a response counts apart from text. Without a row, tokens have the price of text, and tools and requests are free.';
comment on column model_unit_prices.unit is 'audio_input, cached_audio_input, audio_output, image_input: tokens of audio and images; search, file_search: searches of the web and of files that the provider runs; container: sessions of its containers, for each GB of their memory; request: successful requests.';
comment on column model_unit_prices.usd is 'US dollars per million tokens, or per search, GB of a container or request.';

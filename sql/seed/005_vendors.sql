-- Vendors for which projects can have keys of their own. A vendor with a known format needs only a row here; its models and their prices,
-- if known, are rows of models. A row names the columns that differ from their defaults. The order of the rows is their preference.
create temporary table seeded_vendors (like vendors including defaults);
alter table seeded_vendors alter place drop default;
alter table seeded_vendors alter place add generated always as identity;

insert into seeded_vendors (name, title, base_url, endpoints, passes, keeps, headers, model_names, makes_models, output_limits)
values (
    'openai', 'OpenAI', 'https://api.openai.com/v1', '{chat,completions,embeddings,responses}', null, '{files,batches}',
    '{idempotency-key,openai-beta,openai-organization,openai-project}',
    -- OpenAI does not serve its own open-weight models.
    '^(?:gpt-(?!oss)|chatgpt-|o\d|ft:|codex-|computer-use-|text-|omni-|tts-|whisper-(?!large)|dall-e-|davinci-|babbage-)',
    true, '{max_completion_tokens,max_tokens}'
);

insert into seeded_vendors (name, title, base_url, format, endpoints, passes, keeps, headers, model_names, makes_models, output_limits)
values (
    'anthropic', 'Anthropic', 'https://api.anthropic.com', 'anthropic', '{messages}', '{/messages/batches,/files}',
    '{message_batches,anthropic_files}', '{anthropic-beta,anthropic-version,anthropic-workspace-id,idempotency-key}',
    '^claude-', true, '{max_tokens}'
);

insert into seeded_vendors (name, title, base_url, passes, keeps, headers, model_names, prefixes_models, client_agent, output_limits)
values (
    'groq', 'Groq', 'https://api.groq.com/openai/v1', '{/audio/,/files,/batches}', '{files,batches}',
    '{groq-model-version,idempotency-key}',
    '^(?:llama|gemma\d?|mixtral|mistral-saba|qwen|deepseek-r1-distill|allam|compound|whisper-large|distil-whisper|playai)-',
    true, '^(?:Async)?Groq/', '{max_completion_tokens,max_tokens}'
);

insert into vendors (
    name, title, base_url, format, endpoints, path_template, key_location, query_parameters, sent_headers, allows_private_address,
    accepts_stream_options, output_limits, honours_output_limit, passes, keeps, headers, model_names, prefixes_models, makes_models,
    client_agent, price_sources, place
)
select
    name, title, base_url, format, endpoints, path_template, key_location, query_parameters, sent_headers, allows_private_address,
    accepts_stream_options, output_limits, honours_output_limit, passes, keeps, headers, model_names, prefixes_models, makes_models,
    client_agent, price_sources, place
from seeded_vendors
on conflict (name) do update
set title = excluded.title,
    base_url = excluded.base_url,
    format = excluded.format,
    endpoints = excluded.endpoints,
    path_template = excluded.path_template,
    key_location = excluded.key_location,
    query_parameters = excluded.query_parameters,
    sent_headers = excluded.sent_headers,
    allows_private_address = excluded.allows_private_address,
    accepts_stream_options = excluded.accepts_stream_options,
    output_limits = excluded.output_limits,
    honours_output_limit = excluded.honours_output_limit,
    passes = excluded.passes,
    keeps = excluded.keeps,
    headers = excluded.headers,
    model_names = excluded.model_names,
    prefixes_models = excluded.prefixes_models,
    makes_models = excluded.makes_models,
    client_agent = excluded.client_agent,
    price_sources = excluded.price_sources,
    place = excluded.place;

drop table seeded_vendors;

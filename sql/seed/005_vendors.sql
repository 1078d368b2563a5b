-- Vendors for which projects can have keys of their own. A vendor with a known format needs only a row here; its models and their prices,
-- if known, are rows of models. A row names the columns that differ from their defaults. The order of the rows is their preference.
select set_config('proxy_caller.seeds', 'on', true);

create temporary table seeded_vendors (like vendors including defaults);
alter table seeded_vendors alter endpoints set default '{chat}', alter allows_private_address set default false, alter source set default 'seed';
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

-- The same service as the aggregator, with a project's own key.
insert into seeded_vendors (name, title, base_url, endpoints, headers, output_limits)
values (
    'openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', '{chat,completions,embeddings}',
    '{http-referer,idempotency-key,x-openrouter-categories,x-openrouter-title,x-title}', '{max_tokens,max_completion_tokens}'
);

-- https://<resource>.openai.azure.com/openai/v1; a model is the name of a deployment.
insert into seeded_vendors (name, title, base_url, endpoints, key_location, output_limits)
values (
    'azure', 'Azure OpenAI', null, '{chat,completions,embeddings,responses}', 'header:api-key', '{max_completion_tokens,max_tokens}'
);

-- https://<resource>.openai.azure.com/openai, with dated versions.
insert into seeded_vendors (name, title, base_url, endpoints, path_template, key_location, query_parameters, output_limits)
values (
    'azure-deployments', 'Azure OpenAI deployments', null, '{chat,completions,embeddings}', '/deployments/{model}{path}',
    'header:api-key', '{"api-version": "2024-10-21"}', '{max_completion_tokens,max_tokens}'
);

insert into seeded_vendors (name, title, base_url, endpoints, model_names, output_limits, price_sources, turn_rules)
values (
    'gemini', 'Gemini', 'https://generativelanguage.googleapis.com/v1beta/openai', '{chat,embeddings}', '^gemini-',
    '{max_completion_tokens,max_tokens}', '{google}', '{google_signatures}'
);

-- https://<location>-aiplatform.googleapis.com/v1/projects/<project>/locations/<location>/endpoints/openapi; the key is an access token.
insert into seeded_vendors (name, title, base_url, output_limits, price_sources, turn_rules)
values ('vertex', 'Vertex AI', null, '{max_tokens}', '{google-vertex}', '{google_signatures}');

-- https://bedrock-runtime.<region>.amazonaws.com/openai/v1
insert into seeded_vendors (name, title, base_url, output_limits, price_sources)
values ('bedrock', 'Amazon Bedrock', null, '{max_completion_tokens,max_tokens}', '{amazon-bedrock}');

insert into seeded_vendors (name, title, base_url, endpoints, accepts_stream_options, model_names, output_limits, turn_rules)
values (
    'mistral', 'Mistral', 'https://api.mistral.ai/v1', '{chat,embeddings}', false,
    '^(?:mistral-(?!saba)|ministral-|codestral-|devstral-|magistral-|pixtral-|voxtral-|open-mi[sx]tral-)', '{max_tokens}',
    '{nine_character_ids,no_extras}'
);

insert into seeded_vendors (name, title, base_url, model_names, makes_models, output_limits, turn_rules)
values (
    'deepseek', 'DeepSeek', 'https://api.deepseek.com', '^deepseek-(?:chat$|reasoner$|v4)', true, '{max_tokens}', '{empty_reasoning}'
);

insert into seeded_vendors (name, title, base_url, endpoints, model_names, output_limits)
values ('xai', 'xAI', 'https://api.x.ai/v1', '{chat,responses}', '^grok-', '{max_completion_tokens,max_tokens}');

insert into seeded_vendors (name, title, base_url, endpoints, output_limits, price_sources)
values (
    'together', 'Together AI', 'https://api.together.xyz/v1', '{chat,completions,embeddings}', '{max_tokens}',
    '{together_ai,togetherai}'
);

insert into seeded_vendors (name, title, base_url, endpoints, output_limits, price_sources)
values (
    'fireworks', 'Fireworks AI', 'https://api.fireworks.ai/inference/v1', '{chat,completions,embeddings}',
    '{max_tokens,max_completion_tokens}', '{fireworks_ai,fireworks-ai}'
);

insert into seeded_vendors (name, title, base_url, endpoints, output_limits)
values ('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', '{chat,completions}', '{max_completion_tokens}');

-- It reports usage in every chunk.
insert into seeded_vendors (name, title, base_url, accepts_stream_options, model_names, makes_models, output_limits)
values ('perplexity', 'Perplexity', 'https://api.perplexity.ai', false, '^sonar(?:-|$)', true, '{max_tokens}');

insert into seeded_vendors (
    name, title, base_url, endpoints, accepts_stream_options, model_names, makes_models, output_limits, price_sources
)
values (
    'cohere', 'Cohere', 'https://api.cohere.ai/compatibility/v1', '{chat,embeddings}', false,
    '^(?:command-|c4ai-|embed-(?:v4|english|multilingual))', true, '{max_tokens}', '{cohere_chat}'
);

insert into seeded_vendors (name, title, base_url, output_limits, price_sources)
values ('moonshot', 'Moonshot AI', 'https://api.moonshot.ai/v1', '{max_tokens}', '{moonshotai}');

-- It reports the usage of a stream unasked.
insert into seeded_vendors (name, title, base_url, accepts_stream_options, output_limits, price_sources)
values ('zhipu', 'Zhipu AI', 'https://api.z.ai/api/paas/v4', false, '{max_tokens}', '{zai,zhipuai}');

insert into seeded_vendors (name, title, base_url, endpoints, output_limits, price_sources)
values (
    'dashscope', 'Alibaba Model Studio', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', '{chat,embeddings}',
    '{max_tokens}', '{alibaba}'
);

insert into seeded_vendors (name, title, base_url, endpoints, makes_models, output_limits, price_sources)
values (
    'nvidia', 'NVIDIA', 'https://integrate.api.nvidia.com/v1', '{chat,completions,embeddings}', true, '{max_tokens}',
    '{nvidia_nim}'
);

insert into seeded_vendors (name, title, base_url, output_limits)
values ('huggingface', 'Hugging Face', 'https://router.huggingface.co/v1', '{max_tokens}');

-- https://api.cloudflare.com/client/v4/accounts/<account>/ai/v1
insert into seeded_vendors (name, title, base_url, endpoints, output_limits, price_sources)
values ('cloudflare', 'Cloudflare Workers AI', null, '{chat,embeddings}', '{max_tokens}', '{cloudflare-workers-ai}');

insert into seeded_vendors (name, title, base_url, endpoints, output_limits, price_sources)
values (
    'vercel', 'Vercel AI Gateway', 'https://ai-gateway.vercel.sh/v1', '{chat,embeddings}', '{max_tokens}', '{vercel_ai_gateway}'
);

insert into seeded_vendors (name, title, base_url, endpoints, sent_headers, output_limits, price_sources)
values (
    'github', 'GitHub Models', 'https://models.github.ai/inference', '{chat,embeddings}',
    '{"x-github-api-version": "2022-11-28"}', '{max_tokens}', '{github-models}'
);

-- Servers on the operator's own machines.
insert into seeded_vendors (name, title, base_url, endpoints, allows_private_address, key_location, output_limits)
values (
    'ollama', 'Ollama', 'http://127.0.0.1:11434/v1', '{chat,completions,embeddings}', true, 'none', '{max_tokens}'
);

insert into seeded_vendors (name, title, base_url, endpoints, allows_private_address, key_location, output_limits)
values (
    'lmstudio', 'LM Studio', 'http://127.0.0.1:1234/v1', '{chat,completions,embeddings}', true, 'none', '{max_tokens}'
);

insert into seeded_vendors (name, title, base_url, endpoints, allows_private_address, key_location, output_limits)
values (
    'vllm', 'vLLM', 'http://127.0.0.1:8000/v1', '{chat,completions,embeddings,responses}', true, 'none',
    '{max_completion_tokens,max_tokens}'
);

insert into seeded_vendors (name, title, base_url, endpoints, allows_private_address, key_location, output_limits)
values (
    'llamacpp', 'llama.cpp', 'http://127.0.0.1:8080/v1', '{chat,completions,embeddings}', true, 'none', '{max_tokens}'
);

-- Azure lists models that have no deployment; the others document no list in this format.
update seeded_vendors
set models_path = null
where name in ('azure', 'azure-deployments', 'vertex', 'bedrock', 'perplexity', 'cohere', 'zhipu', 'dashscope', 'cloudflare', 'github');

insert into vendors (
    name, title, base_url, format, endpoints, path_template, key_location, query_parameters, sent_headers, allows_private_address,
    models_path, accepts_stream_options, output_limits, turn_rules, honours_output_limit, passes, keeps, headers, model_names,
    prefixes_models, makes_models,
    client_agent, price_sources, place, source
)
select
    name, title, base_url, format, endpoints, path_template, key_location, query_parameters, sent_headers, allows_private_address,
    models_path, accepts_stream_options, output_limits, turn_rules, honours_output_limit, passes, keeps, headers, model_names,
    prefixes_models, makes_models,
    client_agent, price_sources, place, source
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
    models_path = excluded.models_path,
    accepts_stream_options = excluded.accepts_stream_options,
    output_limits = excluded.output_limits,
    turn_rules = excluded.turn_rules,
    honours_output_limit = excluded.honours_output_limit,
    passes = excluded.passes,
    keeps = excluded.keeps,
    headers = excluded.headers,
    model_names = excluded.model_names,
    prefixes_models = excluded.prefixes_models,
    makes_models = excluded.makes_models,
    client_agent = excluded.client_agent,
    price_sources = excluded.price_sources,
    place = excluded.place
where vendors.source = 'seed';

drop table seeded_vendors;
select set_config('proxy_caller.seeds', 'off', true);

-- Vendors for which projects can have keys of their own. A vendor with a known format needs only a row here; its models and their prices,
-- if known, are rows of models.
insert into vendors (
    name, title, base_url, format, endpoints, passes, keeps, headers, model_names, prefixes_models, makes_models, client_agent,
    output_limits, place
)
select v.*, row_number() over ()
from (values
    (
        'openai', 'OpenAI', 'https://api.openai.com/v1', 'openai', '{chat,completions,embeddings,responses}'::text[], null::text[],
        '{files,batches}'::text[], '{idempotency-key,openai-beta,openai-organization,openai-project}'::text[],
        -- OpenAI does not serve its own open-weight models.
        '^(?:gpt-(?!oss)|chatgpt-|o\d|ft:|codex-|computer-use-|text-|omni-|tts-|whisper-(?!large)|dall-e-|davinci-|babbage-)',
        false, true, null, '{max_completion_tokens,max_tokens}'::text[]
    ),
    (
        'anthropic', 'Anthropic', 'https://api.anthropic.com', 'anthropic', '{messages}', '{/messages/batches,/files}',
        '{message_batches,anthropic_files}', '{anthropic-beta,anthropic-version,anthropic-workspace-id,idempotency-key}',
        '^claude-',
        false, true, null, '{max_tokens}'
    ),
    (
        'groq', 'Groq', 'https://api.groq.com/openai/v1', 'openai', '{chat}', '{/audio/,/files,/batches}',
        '{files,batches}', '{groq-model-version,idempotency-key}',
        '^(?:llama|gemma\d?|mixtral|mistral-saba|qwen|deepseek-r1-distill|allam|compound|whisper-large|distil-whisper|playai)-',
        true, false, '^(?:Async)?Groq/', '{max_completion_tokens,max_tokens}'
    )
) as v (
    name, title, base_url, format, endpoints, passes, keeps, headers, model_names, prefixes_models, makes_models, client_agent,
    output_limits
)
on conflict (name) do update
set title = excluded.title,
    base_url = excluded.base_url,
    format = excluded.format,
    endpoints = excluded.endpoints,
    passes = excluded.passes,
    keeps = excluded.keeps,
    headers = excluded.headers,
    model_names = excluded.model_names,
    prefixes_models = excluded.prefixes_models,
    makes_models = excluded.makes_models,
    client_agent = excluded.client_agent,
    output_limits = excluded.output_limits,
    place = excluded.place;

/**
 * How each vendor's API behaves by the vendor's documentation. It is written independently of the rows of sql/seed/005_vendors.sql, so that a
 * wrong row fails its cases.
 */
export type Path = 'chat' | 'completions' | 'embeddings' | 'responses' | 'messages'
export type JsonObject = Record<string, unknown>

/** What some vendors lack, whatever the request's endpoint is at the proxy. */
export type Feature = 'tools' | 'images' | 'structured'

export interface DocumentedVendor {
  name: string
  /** A base URL that its documentation shows. `<…>` is another part in each installation. */
  baseUrl: string
  /** The path after the base URL. `<model>` is the requested model. */
  paths: Partial<Record<Path, string>>
  /** Where a request must have the key; null for a server that needs none, which must not get any. */
  key: { header: string; prefix: string } | null
  /** The path of its list of models after the base URL; `/models` by default, null if it documents none. */
  modelsPath?: string | null
  /** Its list of models; OpenAI's form by default. */
  writeList?(models: readonly string[]): unknown
  query: Readonly<Record<string, string>>
  /** Headers that a request must have besides. */
  headers: Readonly<Record<string, string>>
  model: string
  /** The fields for the limit of the output: those that it keeps, and those that it ignores. It rejects the others. */
  limits: { kept: readonly string[]; ignored?: readonly string[] }
  /** What it does with `stream_options`. */
  streamOptions: 'accepts' | 'rejects'
  /** Whether it rejects fields that its documentation does not list. */
  rejectsUnknownFields: boolean
  /** Where a message contains reasoning: a field, parts of the content, or a signature of each call; null: nowhere. */
  reasoning: 'reasoning_content' | 'reasoning' | 'parts' | 'signature' | null
  /** Whether it rejects an assistant message with calls that comes back without its reasoning. */
  needsReasoning: boolean
  /** Where a stream has usage: in a chunk of its own, if requested; in the last chunk; in each chunk; or in the last choice. */
  streamedUsage: 'requested' | 'last' | 'each' | 'choice'
  /** Returns its usage for these tokens; OpenAI's form by default. */
  writeUsage?(tokens: Tokens): JsonObject
  /** Whether its streams end with `[DONE]`. */
  endsWithDone: boolean
  /** Chunks that its streams begin with. */
  opening?: readonly JsonObject[]
  writeError(error: VendorError): unknown
  /** Its message for a prompt that exceeds the model's context length, and its code. */
  fullContext: { status: number; message: string; code?: string }
  rateLimitHeaders: Readonly<Record<string, string>>
  /** Features that it lacks, and why. */
  lacks: Partial<Record<Feature, string>>
  /** Fields that it requires in requests for embeddings. */
  embeddingFields?: JsonObject
}

export interface Tokens {
  prompt: number
  cached: number
  /** Tokens of the visible output. */
  output: number
  reasoning: number
}

export interface VendorError {
  status: number
  message: string
  code: string
}

const BEARER = { header: 'authorization', prefix: 'Bearer ' }
const OPENAI_PATHS = { chat: '/chat/completions', completions: '/completions', embeddings: '/embeddings' }
const CHAT_ONLY = { chat: '/chat/completions' }
const CHAT_AND_EMBEDDINGS = { chat: '/chat/completions', embeddings: '/embeddings' }

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  500: 'server_error',
  503: 'server_error',
}
const openAiError = ({ status, message, code }: VendorError) => ({
  error: { message, type: TYPES[status], param: null, code },
})
const flatError = ({ status, message, code }: VendorError) => ({ message, type: TYPES[status], param: null, code })
const GOOGLE_STATUS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}
const googleError = ({ status, message }: VendorError) => [
  { error: { code: status, message, status: GOOGLE_STATUS[status] } },
]

const OPENAI_LIMITS = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '0',
  'x-ratelimit-reset-requests': '7s',
  'x-ratelimit-limit-tokens': '150000',
  'x-ratelimit-remaining-tokens': '149984',
  'x-ratelimit-reset-tokens': '6m0s',
}

const OPENAI_CONTEXT = {
  status: 400,
  message:
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens. Please reduce the length of the messages.",
  code: 'context_length_exceeded',
}
const VLLM_CONTEXT = {
  status: 400,
  message:
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens in the messages, Please reduce the length of the messages.",
}

const COMPATIBLE: Omit<DocumentedVendor, 'name' | 'baseUrl' | 'model'> = {
  paths: OPENAI_PATHS,
  key: BEARER,
  query: {},
  headers: {},
  limits: { kept: ['max_tokens', 'max_completion_tokens'] },
  streamOptions: 'accepts',
  rejectsUnknownFields: false,
  reasoning: null,
  needsReasoning: false,
  streamedUsage: 'requested',
  endsWithDone: true,
  writeError: openAiError,
  fullContext: OPENAI_CONTEXT,
  rateLimitHeaders: OPENAI_LIMITS,
  lacks: {},
}

const AZURE: Omit<DocumentedVendor, 'name' | 'baseUrl'> = {
  ...COMPATIBLE,
  key: { header: 'api-key', prefix: '' },
  model: 'our-gpt-4o',
  rejectsUnknownFields: true,
  opening: [{ choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }],
  rateLimitHeaders: {
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-remaining-tokens': '0',
    'retry-after-ms': '7000',
  },
}

/** Only the sum contains the tokens of its reasoning. */
const googleUsage = ({ prompt, output, reasoning }: Tokens) => ({
  prompt_tokens: prompt,
  completion_tokens: output,
  total_tokens: prompt + output + reasoning,
})

export const DOCUMENTED_VENDORS: readonly DocumentedVendor[] = [
  {
    ...COMPATIBLE,
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    paths: { ...OPENAI_PATHS, responses: '/responses' },
    model: 'gpt-4o-mini',
    rejectsUnknownFields: true,
  },
  {
    ...COMPATIBLE,
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    paths: { messages: '/v1/messages' },
    key: { header: 'x-api-key', prefix: '' },
    model: 'claude-haiku-4-5',
    limits: { kept: ['max_tokens'] },
    fullContext: { status: 400, message: 'prompt is too long: 250000 tokens > 200000 maximum' },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    paths: CHAT_ONLY,
    model: 'llama-3.3-70b-versatile',
    rejectsUnknownFields: true,
    reasoning: 'reasoning',
    fullContext: {
      status: 400,
      message: 'Please reduce the length of the messages or completion.',
      code: 'context_length_exceeded',
    },
  },
  {
    ...COMPATIBLE,
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    model: 'deepseek/deepseek-v3.2',
    reasoning: 'reasoning',
    writeError: ({ status, message }) => ({ error: { code: status, message, metadata: { provider_name: 'X' } } }),
    rateLimitHeaders: {
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1790000000000',
    },
    fullContext: {
      status: 400,
      message:
        "This endpoint's maximum context length is 163840 tokens. However, you requested about 200000 tokens (190000 of text input, 10000 in the output). Please reduce the length of either one.",
    },
  },
  {
    ...AZURE,
    name: 'azure',
    modelsPath: null,
    baseUrl: 'https://<resource>.openai.azure.com/openai/v1',
    paths: { ...OPENAI_PATHS, responses: '/responses' },
  },
  {
    ...AZURE,
    name: 'azure-deployments',
    modelsPath: null,
    baseUrl: 'https://<resource>.openai.azure.com/openai',
    paths: {
      chat: '/deployments/<model>/chat/completions',
      completions: '/deployments/<model>/completions',
      embeddings: '/deployments/<model>/embeddings',
    },
    query: { 'api-version': '2024-10-21' },
  },
  {
    ...COMPATIBLE,
    name: 'gemini',
    writeList: models => ({ object: 'list', data: models.map(id => ({ id: `models/${id}`, object: 'model' })) }),
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    paths: CHAT_AND_EMBEDDINGS,
    model: 'gemini-3-pro-preview',
    rejectsUnknownFields: true,
    reasoning: 'signature',
    needsReasoning: true,
    writeUsage: googleUsage,
    writeError: googleError,
    fullContext: {
      status: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'vertex',
    modelsPath: null,
    baseUrl:
      'https://<location>-aiplatform.googleapis.com/v1/projects/<project>/locations/<location>/endpoints/openapi',
    paths: CHAT_ONLY,
    model: 'google/gemini-3-pro-preview',
    limits: { kept: ['max_tokens', 'max_completion_tokens'] },
    reasoning: 'signature',
    needsReasoning: true,
    writeUsage: googleUsage,
    writeError: googleError,
    fullContext: {
      status: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'bedrock',
    modelsPath: null,
    baseUrl: 'https://bedrock-runtime.<region>.amazonaws.com/openai/v1',
    paths: CHAT_ONLY,
    model: 'openai.gpt-oss-120b-1:0',
    rejectsUnknownFields: true,
    rateLimitHeaders: {},
    fullContext: VLLM_CONTEXT,
    lacks: { images: 'Its models at this endpoint accept text only' },
  },
  {
    ...COMPATIBLE,
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    paths: CHAT_AND_EMBEDDINGS,
    model: 'magistral-medium-latest',
    limits: { kept: ['max_tokens'] },
    streamOptions: 'rejects',
    rejectsUnknownFields: true,
    reasoning: 'parts',
    streamedUsage: 'last',
    writeError: ({ status, message, code }) =>
      status === 422
        ? {
            object: 'error',
            message: { detail: [{ type: 'extra_forbidden', loc: ['body'], msg: message }] },
            type: 'invalid_request_error',
            param: null,
            code: null,
          }
        : status === 401
          ? { message, request_id: 'a580d263' }
          : { object: 'error', message, type: code, param: null, code: '1000' },
    fullContext: {
      status: 400,
      message:
        'Prompt contains 150000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    },
    rateLimitHeaders: { 'x-ratelimit-limit-req-minute': '60', 'x-ratelimit-remaining-req-minute': '0' },
  },
  {
    ...COMPATIBLE,
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    paths: CHAT_ONLY,
    model: 'deepseek-reasoner',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    reasoning: 'reasoning_content',
    needsReasoning: true,
    writeUsage: ({ prompt, cached, output, reasoning }) => ({
      prompt_tokens: prompt,
      completion_tokens: output + reasoning,
      total_tokens: prompt + output + reasoning,
      prompt_cache_hit_tokens: cached,
      prompt_cache_miss_tokens: prompt - cached,
      completion_tokens_details: { reasoning_tokens: reasoning },
    }),
    fullContext: {
      status: 400,
      message:
        "This model's maximum context length is 131072 tokens. However, you requested 150000 tokens (140000 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
    },
    rateLimitHeaders: {},
    lacks: {
      images: 'Its models accept text only',
      structured: 'It has JSON mode, but no schemas',
    },
  },
  {
    ...COMPATIBLE,
    name: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    paths: { ...CHAT_ONLY, responses: '/responses' },
    model: 'grok-4',
    reasoning: 'reasoning_content',
    streamedUsage: 'last',
    // The completion does not contain the tokens of the reasoning.
    writeUsage: ({ prompt, cached, output, reasoning }) => ({
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output + reasoning,
      prompt_tokens_details: { text_tokens: prompt, cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    }),
    writeError: ({ message }) => ({ code: 'Client specified an invalid argument', error: message }),
    fullContext: {
      status: 400,
      message: "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    },
  },
  {
    ...COMPATIBLE,
    name: 'together',
    writeList: models => models.map(id => ({ id, object: 'model', type: 'chat' })),
    baseUrl: 'https://api.together.xyz/v1',
    model: 'openai/gpt-oss-120b',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    reasoning: 'reasoning',
    streamedUsage: 'last',
    fullContext: {
      status: 422,
      message:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 0 `max_new_tokens`',
    },
    rateLimitHeaders: { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '7' },
  },
  {
    ...COMPATIBLE,
    name: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    model: 'accounts/fireworks/models/deepseek-v3p1',
    rejectsUnknownFields: true,
    reasoning: 'reasoning_content',
    streamedUsage: 'last',
    writeError: ({ status, message }) => ({ error: { object: 'error', type: TYPES[status], message } }),
    fullContext: {
      status: 400,
      message: 'The prompt is too long: 150000, model maximum context length: 131071',
    },
  },
  {
    ...COMPATIBLE,
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    paths: { ...CHAT_ONLY, completions: '/completions' },
    model: 'gpt-oss-120b',
    limits: { kept: ['max_completion_tokens'] },
    rejectsUnknownFields: true,
    reasoning: 'reasoning',
    streamedUsage: 'last',
    writeError: flatError,
    fullContext: {
      status: 400,
      message: 'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
      code: 'context_length_exceeded',
    },
    rateLimitHeaders: {
      'x-ratelimit-limit-requests-day': '1000',
      'x-ratelimit-remaining-requests-day': '0',
      'x-ratelimit-reset-requests-day': '33011.3',
    },
    lacks: { images: 'Its models accept text only' },
  },
  {
    ...COMPATIBLE,
    name: 'perplexity',
    modelsPath: null,
    baseUrl: 'https://api.perplexity.ai',
    paths: CHAT_ONLY,
    model: 'sonar-pro',
    limits: { kept: ['max_tokens'] },
    streamOptions: 'rejects',
    rejectsUnknownFields: true,
    streamedUsage: 'each',
    writeUsage: ({ prompt, output, reasoning }) => ({
      prompt_tokens: prompt,
      completion_tokens: output + reasoning,
      total_tokens: prompt + output + reasoning,
      search_context_size: 'low',
      cost: { input_tokens_cost: 0.1, output_tokens_cost: 0.2, request_cost: 0.006, total_cost: 0.306 },
    }),
    endsWithDone: false,
    writeError: ({ status, message }) =>
      status === 422
        ? { detail: [{ type: 'extra_forbidden', loc: ['body'], msg: message }] }
        : { error: { message, type: TYPES[status], code: status } },
    fullContext: { status: 400, message: 'Input length exceeds the maximum context length of 127072 tokens.' },
    rateLimitHeaders: {},
    lacks: { tools: 'Its models call no functions' },
  },
  {
    ...COMPATIBLE,
    name: 'cohere',
    modelsPath: null,
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    paths: CHAT_AND_EMBEDDINGS,
    model: 'command-a-03-2025',
    limits: { kept: ['max_tokens'] },
    streamOptions: 'rejects',
    rejectsUnknownFields: true,
    streamedUsage: 'last',
    writeError: ({ message }) => ({ id: '7d0d5c1e', message }),
    fullContext: {
      status: 400,
      message:
        'too many tokens: total number of tokens in the prompt cannot exceed 256000 - received 300000. Try using a shorter prompt.',
    },
    rateLimitHeaders: {},
    lacks: { images: 'Its documentation of this endpoint has text only' },
  },
  {
    ...COMPATIBLE,
    name: 'moonshot',
    baseUrl: 'https://api.moonshot.ai/v1',
    paths: CHAT_ONLY,
    model: 'kimi-k2-thinking',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    reasoning: 'reasoning_content',
    needsReasoning: true,
    streamedUsage: 'choice',
    writeUsage: ({ prompt, cached, output, reasoning }) => ({
      prompt_tokens: prompt,
      completion_tokens: output + reasoning,
      total_tokens: prompt + output + reasoning,
      cached_tokens: cached,
    }),
    writeError: ({ status, message }) => ({ error: { message, type: TYPES[status] } }),
    fullContext: {
      status: 400,
      message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)',
    },
    rateLimitHeaders: {},
    lacks: { structured: 'It has JSON mode, but no schemas' },
  },
  {
    ...COMPATIBLE,
    name: 'zhipu',
    modelsPath: null,
    baseUrl: 'https://api.z.ai/api/paas/v4',
    paths: CHAT_ONLY,
    model: 'glm-4.6v',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    streamOptions: 'rejects',
    reasoning: 'reasoning_content',
    streamedUsage: 'last',
    writeError: ({ message }) => ({ error: { code: '1213', message } }),
    fullContext: { status: 400, message: 'Prompt exceeds max length', code: '1261' },
    rateLimitHeaders: {},
    lacks: { structured: 'It has JSON mode, but no schemas' },
  },
  {
    ...COMPATIBLE,
    name: 'dashscope',
    modelsPath: null,
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    paths: CHAT_AND_EMBEDDINGS,
    model: 'qwen3-vl-plus',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    reasoning: 'reasoning_content',
    writeError: ({ status, message, code }) => ({ error: { message, type: TYPES[status], code }, request_id: 'f1' }),
    fullContext: {
      status: 400,
      message: 'InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
      code: 'invalid_parameter_error',
    },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'nvidia',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    model: 'meta/llama-3.2-90b-vision-instruct',
    limits: { kept: ['max_tokens'] },
    rejectsUnknownFields: true,
    reasoning: 'reasoning_content',
    writeError: ({ status, message }) =>
      status === 401 || status === 404
        ? { status, title: status === 401 ? 'Unauthorized' : 'Not Found', detail: message }
        : { object: 'error', message, type: 'BadRequestError', param: null, code: status },
    fullContext: VLLM_CONTEXT,
    rateLimitHeaders: {},
    embeddingFields: { input_type: 'query' },
  },
  {
    ...COMPATIBLE,
    name: 'huggingface',
    baseUrl: 'https://router.huggingface.co/v1',
    paths: CHAT_ONLY,
    model: 'deepseek-ai/DeepSeek-V3.2:fastest',
    limits: { kept: ['max_tokens'] },
    reasoning: 'reasoning_content',
    writeError: ({ message }) => ({ error: message }),
    fullContext: {
      status: 422,
      message:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 0 `max_new_tokens`',
    },
    rateLimitHeaders: { ratelimit: '"api";r=0;t=7' },
  },
  {
    ...COMPATIBLE,
    name: 'cloudflare',
    modelsPath: null,
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/<account>/ai/v1',
    paths: CHAT_AND_EMBEDDINGS,
    model: '@cf/meta/llama-4-scout-17b-16e-instruct',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    writeError: ({ status, message }) => ({
      result: null,
      success: false,
      errors: [{ code: status === 401 ? 10000 : 5007, message }],
      messages: [],
    }),
    fullContext: {
      status: 400,
      message:
        'AiError: The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).',
    },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'vercel',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    paths: CHAT_AND_EMBEDDINGS,
    model: 'anthropic/claude-sonnet-4.5',
    limits: { kept: ['max_tokens'] },
    reasoning: 'reasoning',
    fullContext: { status: 400, message: 'prompt is too long: 250000 tokens > 200000 maximum' },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'github',
    modelsPath: null,
    baseUrl: 'https://models.github.ai/inference',
    paths: CHAT_AND_EMBEDDINGS,
    headers: { 'x-github-api-version': '2022-11-28' },
    model: 'openai/gpt-4.1',
    limits: { kept: ['max_tokens'] },
    rejectsUnknownFields: true,
    fullContext: {
      status: 413,
      message: 'Request body too large for gpt-4.1 model. Max size: 8000 tokens.',
      code: 'tokens_limit_reached',
    },
    rateLimitHeaders: { 'x-ratelimit-timeremaining': '7', 'x-ratelimit-type': 'UserByModelByMinute' },
  },
  {
    ...COMPATIBLE,
    name: 'ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    key: null,
    model: 'llama3.2',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    reasoning: 'reasoning',
    fullContext: { status: 400, message: 'the input length exceeds the context length' },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'lmstudio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    key: null,
    model: 'qwen/qwen3-4b',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    reasoning: 'reasoning_content',
    writeError: ({ message }) => ({ error: message }),
    fullContext: {
      status: 400,
      message:
        'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    },
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'vllm',
    baseUrl: 'http://127.0.0.1:8000/v1',
    paths: { ...OPENAI_PATHS, responses: '/responses' },
    key: null,
    model: 'Qwen/Qwen3-VL-8B-Thinking',
    reasoning: 'reasoning',
    writeError: ({ status, message }) => ({
      object: 'error',
      message,
      type: 'BadRequestError',
      param: null,
      code: status,
    }),
    fullContext: VLLM_CONTEXT,
    rateLimitHeaders: {},
  },
  {
    ...COMPATIBLE,
    name: 'llamacpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    key: null,
    model: 'gemma-3-4b-it-GGUF',
    limits: { kept: ['max_tokens'], ignored: ['max_completion_tokens'] },
    reasoning: 'reasoning_content',
    writeError: ({ status, message }) => ({ error: { code: status, message, type: 'invalid_request_error' } }),
    fullContext: {
      status: 400,
      message:
        'the request exceeds the available context size. try increasing the context size or enable context shift',
      code: 'exceed_context_size_error',
    },
    rateLimitHeaders: {},
  },
]

/** Returns the vendor's error for the words `error-<status>` and `context`; null for any other word. */
export function asVendorError({ fullContext }: DocumentedVendor, word: string): VendorError | null {
  if (word === 'context') return { code: 'error', ...fullContext }
  const status = Number(/^error-(\d+)$/.exec(word)?.[1])
  if (!status) return null
  return { status, message: `The request failed: ${word}.`, code: status === 404 ? 'model_not_found' : 'error' }
}

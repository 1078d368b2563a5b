/** Lists the paths at which vendors report each count in a response's `usage`. A new vendor's name is a new path here. The largest of several counts. */

type Paths = readonly string[]

/** Combines each object name with each field name. */
const within = (objects: Paths, fields: Paths): Paths =>
  objects.flatMap(object => fields.map(field => `${object}.${field}`))

const PROMPT_DETAILS = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details']
const COMPLETION_DETAILS = ['completion_tokens_details', 'output_tokens_details', 'output_token_details']

export const USAGE_FIELD_PATHS = {
  /** Prompt tokens, including cached tokens. */
  prompt: ['prompt_tokens', 'promptTokens', 'promptTokenCount'],
  /** Prompt tokens, including cached tokens in OpenAI's Responses API, and without them in Anthropic's Messages API and Bedrock. */
  input: ['input_tokens', 'inputTokens'],
  completion: ['completion_tokens', 'output_tokens', 'completionTokens', 'outputTokens', 'candidatesTokenCount'],
  total: ['total_tokens', 'totalTokens', 'totalTokenCount'],
  reasoning: [
    ...within(COMPLETION_DETAILS, ['reasoning_tokens', 'thinking_tokens']),
    'reasoning_tokens',
    'thoughtsTokenCount',
  ],
  /** Cached prompt tokens. Moonshot and DeepSeek report them at the top level. */
  cached: [
    ...within(PROMPT_DETAILS, ['cached_tokens']),
    'cached_tokens',
    'prompt_cache_hit_tokens',
    'cachedContentTokenCount',
  ],
  written: within(PROMPT_DETAILS, ['cache_write_tokens', 'cache_creation_tokens']),
  /** Cached tokens that `input` does not include. */
  inputCached: ['cache_read_input_tokens', 'cacheReadInputTokens'],
  inputWritten: ['cache_creation_input_tokens', 'cacheWriteInputTokens'],
  /** Tokens written to the cache, by how long they are cached. */
  writtenForMinutes: ['cache_creation.ephemeral_5m_input_tokens'],
  writtenForAnHour: ['cache_creation.ephemeral_1h_input_tokens', ...within(PROMPT_DETAILS, ['cache_write_1h_tokens'])],
  audioPrompt: within(PROMPT_DETAILS, ['audio_tokens']),
  cachedAudioPrompt: within(PROMPT_DETAILS, ['cached_tokens_details.audio_tokens']),
  imagePrompt: within(PROMPT_DETAILS, ['image_tokens']),
  audioCompletion: within(COMPLETION_DETAILS, ['audio_tokens']),
  searches: ['web_searches', 'server_tool_use.web_search_requests'],
} satisfies Record<string, Paths>

export type UsageField = keyof typeof USAGE_FIELD_PATHS

/** Top-level fields that contain counts. Other fields, such as a cost, are copied into another format unchanged. */
export const USAGE_COUNT_FIELDS: ReadonlySet<string> = new Set(
  Object.values(USAGE_FIELD_PATHS)
    .flat()
    .map(path => path.split('.', 1)[0] ?? ''),
)

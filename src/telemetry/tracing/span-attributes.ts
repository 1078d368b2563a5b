/**
 * Defines every attribute of a span. The GenAI conventions are still in development, in a separate repository: follow their changes here.
 * https://github.com/open-telemetry/semantic-conventions-genai, https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */

interface Attribute {
  name: string
  /** The spans that have it. */
  of: string
  says: string
}

/** All attributes. docs/metrics.md lists them. */
export const SPAN_ATTRIBUTES: Attribute[] = []

/** Registers an attribute of `SERVER`, `CLIENT` or `INTERNAL` spans, and returns its name. */
function defineAttribute(of: string, name: string, says: string): string {
  SPAN_ATTRIBUTES.push({ name, of, says })
  return name
}

export const HTTP_ATTRIBUTES = {
  method: defineAttribute('SERVER', 'http.request.method', 'As the client sent it.'),
  route: defineAttribute('SERVER', 'http.route', 'Ids in a path are `{id}`.'),
  status: defineAttribute('SERVER', 'http.response.status_code', 'The status of the response to the client.'),
}

export const ERROR_TYPE_ATTRIBUTE = defineAttribute('both', 'error.type', 'The status or the error’s code.')

export const GEN_AI_ATTRIBUTES = {
  operation: defineAttribute(
    'CLIENT',
    'gen_ai.operation.name',
    '`chat`, `text_completion`, `embeddings`, or the endpoint.',
  ),
  provider: defineAttribute('CLIENT', 'gen_ai.provider.name', 'The provider that was called.'),
  requestModel: defineAttribute('CLIENT', 'gen_ai.request.model', 'The model that was called.'),
  stream: defineAttribute('CLIENT', 'gen_ai.request.stream', 'Whether a stream was requested.'),
  responseModel: defineAttribute('CLIENT', 'gen_ai.response.model', 'The model that the response names.'),
  firstChunkSeconds: defineAttribute(
    'CLIENT',
    'gen_ai.response.time_to_first_chunk',
    'Seconds to the first chunk of a stream.',
  ),
  inputTokens: defineAttribute('CLIENT', 'gen_ai.usage.input_tokens', 'The whole prompt, cached tokens included.'),
  cachedInputTokens: defineAttribute(
    'CLIENT',
    'gen_ai.usage.cache_read.input_tokens',
    'The part of the prompt that the provider had cached.',
  ),
  outputTokens: defineAttribute('CLIENT', 'gen_ai.usage.output_tokens', 'The tokens of the response.'),
}

/** The event of a CLIENT span for each attempt that failed. */
export const FAILED_ATTEMPT_EVENT = 'model_proxy.failed_attempt'

export const ATTEMPT_ATTRIBUTES = {
  model: defineAttribute('CLIENT event', 'model_proxy.attempt.model', 'The model that was called.'),
  provider: defineAttribute('CLIENT event', 'model_proxy.attempt.provider', 'The provider that was called.'),
  key: defineAttribute('CLIENT event', 'model_proxy.attempt.key', 'The name of the provider key, if it has one.'),
  kind: defineAttribute('CLIENT event', 'model_proxy.attempt.kind', 'The [kind of failure](providers.md#attempts).'),
  status: defineAttribute('CLIENT event', 'model_proxy.attempt.status', 'The provider’s status, if it responded.'),
  ms: defineAttribute('CLIENT event', 'model_proxy.attempt.ms', 'Milliseconds until it failed.'),
}

export const PROXY_ATTRIBUTES = {
  requestId: defineAttribute(
    'SERVER',
    'model_proxy.request.id',
    'The request’s id. This and the attributes below are set on requests with a usage record.',
  ),
  project: defineAttribute('SERVER, INTERNAL', 'model_proxy.project.name', 'The project’s name.'),
  endpoint: defineAttribute('SERVER', 'model_proxy.endpoint', 'As in the records.'),
  purpose: defineAttribute(
    'CLIENT, INTERNAL',
    'model_proxy.purpose',
    '`judge`, `embedder` or `hook`, on a call that the proxy makes for itself.',
  ),
  model: defineAttribute('SERVER', 'model_proxy.model', 'As in the records.'),
  provider: defineAttribute('SERVER', 'model_proxy.provider', 'As in the records.'),
  costUsd: defineAttribute('SERVER', 'model_proxy.cost_usd', 'As in the records.'),
  cacheResult: defineAttribute('SERVER', 'model_proxy.cache.result', 'As in the records.'),
  cacheReason: defineAttribute('SERVER', 'model_proxy.cache.reason', 'As in the records.'),
  savedTokens: defineAttribute('SERVER', 'model_proxy.cache.saved_tokens', 'As in the records.'),
  savedUsd: defineAttribute('SERVER', 'model_proxy.cache.saved_usd', 'As in the records.'),
}

/** The operation names of endpoints. Any other endpoint is its own operation name. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
}

export function genAiOperationOf(endpoint: string): string {
  return OPERATIONS[endpoint] ?? endpoint
}

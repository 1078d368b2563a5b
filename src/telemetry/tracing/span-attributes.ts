/**
 * Every name in a span. Those of GenAI are still in development, in a repository of their own: when they change, this file does.
 * https://github.com/open-telemetry/semantic-conventions-genai, https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */

interface Attribute {
  name: string
  /** The spans that have it. */
  of: string
  says: string
}

/** Each attribute; docs/metrics.md lists them. */
export const SPAN_ATTRIBUTES: Attribute[] = []

/** Notes an attribute of `SERVER`, `CLIENT` or `INTERNAL` spans, and returns its name. */
function on(of: string, name: string, says: string): string {
  SPAN_ATTRIBUTES.push({ name, of, says })
  return name
}

export const HTTP_ATTRIBUTES = {
  method: on('SERVER', 'http.request.method', 'As the client sent it.'),
  route: on('SERVER', 'http.route', 'Ids in a path are `{id}`.'),
  status: on('SERVER', 'http.response.status_code', 'What the client got.'),
}

export const ERROR_TYPE_ATTRIBUTE = on('both', 'error.type', 'The status or the error’s code.')

export const GEN_AI_ATTRIBUTES = {
  operation: on('CLIENT', 'gen_ai.operation.name', '`chat`, `text_completion`, `embeddings`, or the endpoint.'),
  provider: on('CLIENT', 'gen_ai.provider.name', 'Whom it was put to.'),
  requestModel: on('CLIENT', 'gen_ai.request.model', 'The model that was asked.'),
  stream: on('CLIENT', 'gen_ai.request.stream', 'Whether a stream was asked for.'),
  responseModel: on('CLIENT', 'gen_ai.response.model', 'The model that the answer names.'),
  firstChunkSeconds: on('CLIENT', 'gen_ai.response.time_to_first_chunk', 'Of a stream, in seconds.'),
  inputTokens: on('CLIENT', 'gen_ai.usage.input_tokens', 'The whole prompt, cached tokens included.'),
  cachedInputTokens: on('CLIENT', 'gen_ai.usage.cache_read.input_tokens', 'Of those, what the provider had cached.'),
  outputTokens: on('CLIENT', 'gen_ai.usage.output_tokens', 'The answer.'),
}

export const PROXY_ATTRIBUTES = {
  requestId: on('SERVER', 'model_proxy.request.id', 'Of a request that was recorded, as those below.'),
  project: on('SERVER, INTERNAL', 'model_proxy.project.name', 'Its project.'),
  endpoint: on('SERVER', 'model_proxy.endpoint', 'As in the records.'),
  purpose: on(
    'CLIENT, INTERNAL',
    'model_proxy.purpose',
    '`judge`, `embedder` or `hook`, of a call that the proxy makes for itself.',
  ),
  model: on('SERVER', 'model_proxy.model', 'As in the records.'),
  provider: on('SERVER', 'model_proxy.provider', 'As in the records.'),
  costUsd: on('SERVER', 'model_proxy.cost_usd', 'As in the records.'),
  cacheResult: on('SERVER', 'model_proxy.cache.result', 'As in the records.'),
  cacheReason: on('SERVER', 'model_proxy.cache.reason', 'As in the records.'),
  savedTokens: on('SERVER', 'model_proxy.cache.saved_tokens', 'As in the records.'),
  savedUsd: on('SERVER', 'model_proxy.cache.saved_usd', 'As in the records.'),
}

/** Operations that have a name of their own; any other is named as its endpoint. */
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

/**
 * Every name in a span. Those of GenAI are still in development, in a repository of their own: when they change, this file does.
 * https://github.com/open-telemetry/semantic-conventions-genai, https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */

export const HTTP = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
} as const

export const ERROR_TYPE = 'error.type'

export const GEN_AI = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  stream: 'gen_ai.request.stream',
  responseModel: 'gen_ai.response.model',
  firstChunkSeconds: 'gen_ai.response.time_to_first_chunk',
  /** All of the prompt, what the provider had cached included. */
  inputTokens: 'gen_ai.usage.input_tokens',
  cachedInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
} as const

export const OURS = {
  requestId: 'model_proxy.request.id',
  project: 'model_proxy.project.name',
  endpoint: 'model_proxy.endpoint',
  /** Of a call that is none of the request's own: why it is made. */
  purpose: 'model_proxy.purpose',
  model: 'model_proxy.model',
  provider: 'model_proxy.provider',
  costUsd: 'model_proxy.cost_usd',
  cacheResult: 'model_proxy.cache.result',
  cacheReason: 'model_proxy.cache.reason',
  savedTokens: 'model_proxy.cache.saved_tokens',
  savedUsd: 'model_proxy.cache.saved_usd',
} as const

/** Operations that have a name of their own; any other is named as its endpoint. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
}

export function operationOf(endpoint: string): string {
  return OPERATIONS[endpoint] ?? endpoint
}

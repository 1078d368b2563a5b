/** What a path asks for, spelt well or nearly so; and what to change where we have nothing at it. */
import { type ProxyError, refuse } from '../errors.ts'
import type { Endpoint } from '../providers/upstream.ts'

export const ENDPOINTS: Record<string, Endpoint> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/embeddings': 'embeddings',
}
export const MODELS = '/v1/models'
export const HEALTH = '/v1/health'

export type Target =
  | { kind: 'endpoint'; endpoint: Endpoint; model: string | null }
  | { kind: 'models' }
  /** As in the path, escaped. */
  | { kind: 'model'; id: string }
  | { kind: 'health' }

/** Azure's clients name the model in the path, as a deployment, and an `api-version` in the query. */
const AZURE = /^\/openai\/deployments\/([^/]+)\/(chat\/completions|completions|embeddings)$/

/** What is asked for; null where we have no such thing. Slashes too many and a base address without /v1 are forgiven. */
export function readPath(pathname: string): Target | null {
  const path = pathname.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const azure = AZURE.exec(path.replace(/^\/v1(?=\/openai\/)/, ''))
  if (azure) return deploymentOf(azure[1] ?? '', ENDPOINTS[`/v1/${azure[2]}`])
  // A base address that ends in /v1, under a client that adds /v1 itself.
  const ours = `/v1${path.replace(/^(\/v1)+(?=\/|$)/, '')}`
  const endpoint = Object.hasOwn(ENDPOINTS, ours) ? ENDPOINTS[ours] : undefined
  if (endpoint) return { kind: 'endpoint', endpoint, model: null }
  if (ours === MODELS) return { kind: 'models' }
  if (ours === HEALTH) return { kind: 'health' }
  return ours.startsWith(`${MODELS}/`) ? { kind: 'model', id: ours.slice(MODELS.length + 1) } : null
}

function deploymentOf(escaped: string, endpoint: Endpoint | undefined): Target | null {
  try {
    return endpoint ? { kind: 'endpoint', endpoint, model: decodeURIComponent(escaped) } : null
  } catch {
    return null
  }
}

/** Endpoints of OpenAI's and Anthropic's that clients may be set to use by default, and what to set instead. */
const ELSEWHERE: readonly [pattern: RegExp, api: string, advice: string][] = [
  [
    /\/responses(\/|$)/,
    'OpenAI’s Responses API',
    'Set your client to chat completions: `OpenAIChatCompletionsModel` or `set_default_openai_api("chat_completions")` in openai-agents, `openai.chat(model)` in the AI SDK, `use_responses_api=False` in LangChain, `wire_api = "chat"` in Codex.',
  ],
  [
    /\/messages(\/|$)/,
    'Anthropic’s Messages API',
    'Use an OpenAI client with POST /v1/chat/completions: Claude’s models answer there too.',
  ],
  [
    /\/(assistants|threads|vector_stores|conversations)(\/|$)/,
    'OpenAI’s Assistants API',
    'Send the whole conversation to POST /v1/chat/completions.',
  ],
  [/\/realtime(\/|$)/, 'OpenAI’s Realtime API', 'Use POST /v1/chat/completions with "stream": true.'],
  [
    /\/(images|audio|moderations|files|uploads|batches|fine_tuning|rerank|videos)(\/|$)/,
    'an API that this proxy does not forward',
    'Give your client the vendor’s own address for these requests.',
  ],
]

/** The 404 that says what to change. Never quotes the path beyond the names that are known. */
export function notFound(pathname: string): ProxyError {
  const known = ELSEWHERE.find(([pattern]) => pattern.test(pathname))
  if (!known) return refuse('pathUnknown')
  const [pattern, api, advice] = known
  const endpoint = (pattern.exec(pathname)?.[0] ?? '').replaceAll('/', '')
  return refuse('endpointElsewhere', { endpoint, api, advice })
}

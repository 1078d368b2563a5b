/** What a path asks for, spelt well or nearly so; and what to change where we have nothing at it. */
import { type ProxyError, refuse } from '../errors.ts'
import type { Endpoint } from '../providers/upstream.ts'

export const ENDPOINTS: Record<string, Endpoint> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/embeddings': 'embeddings',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
}
/** Where the tokens of a prompt are counted, for which operation. */
export const COUNTS: Record<string, Endpoint> = {
  '/v1/responses/input_tokens': 'responses',
  '/v1/messages/count_tokens': 'messages',
}
/** What people ask the cache itself. */
export const CACHE_QUESTIONS: Record<string, CacheQuestion> = {
  '/v1/cache/feedback': 'feedback',
  '/v1/cache/explain': 'explain',
  '/v1/cache/equivalences': 'equivalences',
}
export type CacheQuestion = 'feedback' | 'explain' | 'equivalences'
export const MODELS = '/v1/models'
export const HEALTH = '/v1/health'

export type Target =
  | { kind: 'endpoint'; endpoint: Endpoint; model: string | null }
  | { kind: 'count'; endpoint: Endpoint }
  /** `part`: what of a kept response, with a slash in front; '' for itself. */
  | { kind: 'response'; id: string; part: string }
  | { kind: 'cache'; question: CacheQuestion }
  | { kind: 'models' }
  /** As in the path, escaped. */
  | { kind: 'model'; id: string }
  | { kind: 'health' }

/** Azure's clients name the model in the path, as a deployment, and an `api-version` in the query. */
const AZURE = /^\/openai\/deployments\/([^/]+)\/(chat\/completions|completions|embeddings)$/

/** One response, or a part of it: its ids hold nothing that would have to be escaped. */
const RESPONSE = /^\/v1\/responses\/([\w-]{1,256})(\/cancel|\/input_items)?$/

/** What is asked for; null where we have no such thing. Slashes too many and a base address without /v1 are forgiven. */
export function readPath(pathname: string): Target | null {
  const path = pathname.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const azure = AZURE.exec(path.replace(/^\/v1(?=\/openai\/)/, ''))
  if (azure) return deploymentOf(azure[1] ?? '', ENDPOINTS[`/v1/${azure[2]}`])
  // A base address that ends in /v1, under a client that adds /v1 itself.
  const ours = `/v1${path.replace(/^(\/v1)+(?=\/|$)/, '')}`
  const endpoint = Object.hasOwn(ENDPOINTS, ours) ? ENDPOINTS[ours] : undefined
  if (endpoint) return { kind: 'endpoint', endpoint, model: null }
  const counted = Object.hasOwn(COUNTS, ours) ? COUNTS[ours] : undefined
  if (counted) return { kind: 'count', endpoint: counted }
  const [, id, part = ''] = RESPONSE.exec(ours) ?? []
  if (id !== undefined) return { kind: 'response', id, part }
  const question = Object.hasOwn(CACHE_QUESTIONS, ours) ? CACHE_QUESTIONS[ours] : undefined
  if (question) return { kind: 'cache', question }
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

/** Whether errors are told in Anthropic's envelope here. */
export function isAnthropicPath(pathname: string): boolean {
  return /\/messages(\/|$)/.test(pathname)
}

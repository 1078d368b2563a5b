/** What a path asks for, spelt well or nearly so; and what to change where we have nothing at it. */
import { type ProxyError, refuse } from '../errors.ts'
import { type Collection, isOperation, type Operation } from '../providers/operations.ts'
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
  /** Passed on as it comes. */
  | { kind: 'operation'; operation: Operation; model: string | null }
  /** Files or batches, `id` null, or one of them; `part`: what of it, with a slash in front, '' for itself. */
  | { kind: 'kept'; collection: Collection; id: string | null; part: string }
  /** `part`: what of a kept response, with a slash in front; '' for itself. */
  | { kind: 'response'; id: string; part: string }
  | { kind: 'cache'; question: CacheQuestion }
  | { kind: 'models' }
  /** As in the path, escaped. */
  | { kind: 'model'; id: string }
  | { kind: 'health' }

/** Azure's clients put this in front, name the model in the path, as a deployment, and an `api-version` in the query. */
const AZURE = /^(?:\/v1)?\/openai(?=\/)/
const DEPLOYMENT = /^\/deployments\/([^/]+)(\/.+)$/

/** One response, or a part of it: its ids hold nothing that would have to be escaped. */
const RESPONSE = /^\/v1\/responses\/([\w-]{1,256})(\/cancel|\/input_items)?$/

const KEPT =
  /^\/v1\/(?:(files|batches)(?:\/([\w-]{1,256}))?|files\/([\w-]{1,256})(\/content)|batches\/([\w-]{1,256})(\/cancel))$/

/** What is asked for; null where we have no such thing. Slashes too many and a base address without /v1 are forgiven. */
export function readPath(pathname: string): Target | null {
  const path = pathname.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  if (!AZURE.test(path)) return readOurs(path)
  const behind = path.replace(AZURE, '')
  const [, deployment, rest = ''] = DEPLOYMENT.exec(behind) ?? []
  return deployment === undefined ? readOurs(behind) : deploymentOf(deployment, readOurs(rest))
}

function readOurs(path: string): Target | null {
  // A base address that ends in /v1, under a client that adds /v1 itself.
  const ours = `/v1${path.replace(/^(\/v1)+(?=\/|$)/, '')}`
  const endpoint = Object.hasOwn(ENDPOINTS, ours) ? ENDPOINTS[ours] : undefined
  if (endpoint) return { kind: 'endpoint', endpoint, model: null }
  const counted = Object.hasOwn(COUNTS, ours) ? COUNTS[ours] : undefined
  if (counted) return { kind: 'count', endpoint: counted }
  const operation = ours.slice('/v1/'.length)
  if (isOperation(operation)) return { kind: 'operation', operation, model: null }
  const kept = readKept(ours)
  if (kept) return kept
  const [, id, part = ''] = RESPONSE.exec(ours) ?? []
  if (id !== undefined) return { kind: 'response', id, part }
  const question = Object.hasOwn(CACHE_QUESTIONS, ours) ? CACHE_QUESTIONS[ours] : undefined
  if (question) return { kind: 'cache', question }
  if (ours === MODELS) return { kind: 'models' }
  if (ours === HEALTH) return { kind: 'health' }
  return ours.startsWith(`${MODELS}/`) ? { kind: 'model', id: ours.slice(MODELS.length + 1) } : null
}

function readKept(ours: string): Target | null {
  const [, collection, one, file, content = '', batch, cancel = ''] = KEPT.exec(ours) ?? []
  if (collection === 'files' || collection === 'batches') return { kind: 'kept', collection, id: one ?? null, part: '' }
  if (file !== undefined) return { kind: 'kept', collection: 'files', id: file, part: content }
  return batch === undefined ? null : { kind: 'kept', collection: 'batches', id: batch, part: cancel }
}

/** What a deployment answers; batches name their models line by line. */
function deploymentOf(escaped: string, target: Target | null): Target | null {
  if (target?.kind === 'kept' && target.collection === 'batches') return target
  if (target?.kind !== 'endpoint' && target?.kind !== 'operation') return null
  try {
    return { ...target, model: decodeURIComponent(escaped) }
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
    /\/(uploads|fine_tuning|containers|evals|videos)(\/|$)/,
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

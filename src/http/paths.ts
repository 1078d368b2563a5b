/** What a path asks for, spelt well or nearly so; and what to change where we have nothing at it. */
import { type ProxyError, refuse } from '../errors.ts'
import { type Collection, isOperation, type Operation } from '../providers/operations.ts'
import type { Endpoint } from '../providers/upstream.ts'

export type CacheQuestion = 'feedback' | 'explain' | 'equivalences'

export type Target =
  | { kind: 'endpoint'; endpoint: Endpoint; model: string | null }
  /** Where the tokens of a prompt are counted. */
  | { kind: 'count'; endpoint: Endpoint }
  /** Passed on as it comes. */
  | { kind: 'operation'; operation: Operation; model: string | null }
  /** Files or batches, `id` null, or one of them; `part`: what of it, with a slash in front, '' for itself. */
  | { kind: 'kept'; collection: Collection; id: string | null; part: string }
  /** `part`: what of a kept response, with a slash in front; '' for itself. */
  | { kind: 'response'; id: string; part: string }
  /** What people ask the cache itself. */
  | { kind: 'cache'; question: CacheQuestion }
  /** `id`: of one model, as in the path, escaped; null for all. */
  | { kind: 'models'; id: string | null }
  | { kind: 'health' }

/** Which files or batches. */
export type KeptTarget = Extract<Target, { kind: 'kept' }>

export type Method = 'GET' | 'POST' | 'DELETE'

const GET: readonly Method[] = ['GET']
const POST: readonly Method[] = ['POST']
const GET_OR_POST: readonly Method[] = ['GET', 'POST']
const GET_OR_DELETE: readonly Method[] = ['GET', 'DELETE']

/** The methods that there are for what is asked. */
export function methodsOf(target: Target): readonly Method[] {
  switch (target.kind) {
    case 'models':
    case 'health':
      return GET
    case 'response':
      return target.part === '' ? GET_OR_DELETE : target.part === '/cancel' ? POST : GET
    case 'kept':
      return methodsOfKept(target)
    default:
      return POST
  }
}

function methodsOfKept({ collection, id, part }: KeptTarget): readonly Method[] {
  if (id === null) return GET_OR_POST
  if (part === '/cancel') return POST
  return collection === 'files' && part === '' ? GET_OR_DELETE : GET
}

/** The method as one of the target's; null where that has no such. HEAD is answered like GET where that costs nothing. */
export function methodOf(target: Target, method: string): Method | null {
  const meant = method === 'HEAD' && (target.kind === 'health' || target.kind === 'models') ? 'GET' : method
  const methods: readonly string[] = methodsOf(target)
  return methods.includes(meant) ? (meant as Method) : null
}

const MODELS = '/v1/models'

/** Paths that are what they are, with nothing in them to read. */
export const TARGETS: Readonly<Record<string, Target>> = {
  '/v1/chat/completions': { kind: 'endpoint', endpoint: 'chat', model: null },
  '/v1/completions': { kind: 'endpoint', endpoint: 'completions', model: null },
  '/v1/embeddings': { kind: 'endpoint', endpoint: 'embeddings', model: null },
  '/v1/responses': { kind: 'endpoint', endpoint: 'responses', model: null },
  '/v1/messages': { kind: 'endpoint', endpoint: 'messages', model: null },
  '/v1/responses/input_tokens': { kind: 'count', endpoint: 'responses' },
  '/v1/messages/count_tokens': { kind: 'count', endpoint: 'messages' },
  '/v1/cache/feedback': { kind: 'cache', question: 'feedback' },
  '/v1/cache/explain': { kind: 'cache', question: 'explain' },
  '/v1/cache/equivalences': { kind: 'cache', question: 'equivalences' },
  [MODELS]: { kind: 'models', id: null },
  '/v1/health': { kind: 'health' },
}

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
  const target = Object.hasOwn(TARGETS, ours) ? TARGETS[ours] : undefined
  if (target) return target
  const operation = ours.slice('/v1/'.length)
  if (isOperation(operation)) return { kind: 'operation', operation, model: null }
  const kept = readKept(ours)
  if (kept) return kept
  const [, id, part = ''] = RESPONSE.exec(ours) ?? []
  if (id !== undefined) return { kind: 'response', id, part }
  return ours.startsWith(`${MODELS}/`) ? { kind: 'models', id: ours.slice(MODELS.length + 1) } : null
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

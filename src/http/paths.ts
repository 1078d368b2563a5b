/** Resolves a path to its target. Accepts common misspellings. Also says what other paths lead to: the dashboard, or a 404. */

import { createError, type ProxyError } from '../errors/errors.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import type { HttpMethod, RouteTarget } from '../pipeline/request/request.ts'
import { type ClientVendor, isPassThroughOperation } from '../providers/pass-through-operations.ts'
import {
  actionsOf,
  collectionForVendor,
  parseStoredObjectPath,
  routeOfStoredObject,
  traitsOf,
} from '../providers/stored-object-collections.ts'
import type { VendorDetector } from './detect-vendor.ts'
import { GEMINI_METHODS, geminiPathOf, OTHER_GEMINI_METHOD, resolveGeminiTarget } from './gemini-api.ts'

/** A host name or an IP address, and a port. It does not match the names of two Host headers, which Bun joins. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i
/** Matches every URL except those of CONNECT, which names only a host. */
const HAS_PATH = /^(?:https?:\/)?\//
/** Base URL for requests of HTTP/1.0, such as health checks, which need not name a host. */
const NO_HOST = 'http://localhost'

/** The last valid URL. Most requests repeat the URL of the one before. */
let lastValid: { url: string; host: string | null } | null = null

/** Whether `parseUrl` can parse the request's URL. Called once, before anything else. */
export function hasValidUrl({ url, headers }: Request): boolean {
  const host = headers.get('host')
  if (lastValid?.url === url && lastValid.host === host) return true
  if ((host !== null && !HOST.test(host)) || !HAS_PATH.test(url) || !URL.canParse(url, NO_HOST)) return false
  lastValid = { url, host }
  return true
}

export function parseUrl({ url }: Request): URL {
  return new URL(url, NO_HOST)
}

const GET: readonly HttpMethod[] = ['GET']
const POST: readonly HttpMethod[] = ['POST']

export function allowedMethodsOf(target: RouteTarget): readonly HttpMethod[] {
  switch (target.kind) {
    case 'models':
    case 'info':
    case 'realtime':
    case 'health':
    case 'probe':
      return GET
    case 'stored_object':
      return Object.keys(actionsOf(target)) as HttpMethod[]
    default:
      return POST
  }
}

/** Returns the method if the target allows it, else null. HEAD counts as GET on targets that are free of charge. */
export function resolveMethod(target: RouteTarget, method: string): HttpMethod | null {
  const effective = method === 'HEAD' && UNMETERED_KINDS.has(target.kind) ? 'GET' : method
  const methods: readonly string[] = allowedMethodsOf(target)
  return methods.includes(effective) ? (effective as HttpMethod) : null
}

const UNMETERED_KINDS: ReadonlySet<RouteTarget['kind']> = new Set(['health', 'models', 'info', 'probe'])

const MODELS = '/v1/models'

/** Paths without parameters. */
export const TARGETS_BY_PATH: Readonly<Record<string, RouteTarget>> = {
  '/v1/chat/completions': { kind: 'endpoint', endpoint: 'chat', model: null },
  '/v1/completions': { kind: 'endpoint', endpoint: 'completions', model: null },
  '/v1/embeddings': { kind: 'endpoint', endpoint: 'embeddings', model: null },
  '/v1/responses': { kind: 'endpoint', endpoint: 'responses', model: null },
  '/v1/messages': { kind: 'endpoint', endpoint: 'messages', model: null },
  '/v1/responses/input_tokens': { kind: 'count', endpoint: 'responses' },
  '/v1/messages/count_tokens': { kind: 'count', endpoint: 'messages' },
  '/v1/cache/feedback': { kind: 'cache', question: 'feedback' },
  '/v1/cache/explain': { kind: 'cache', question: 'explain' },
  [MODELS]: { kind: 'models', id: null },
  '/v1/model/info': { kind: 'info', about: 'model/info' },
  '/v1/key': { kind: 'info', about: 'key' },
  '/v1/auth/key': { kind: 'info', about: 'key' },
  '/v1/credits': { kind: 'info', about: 'credits' },
  '/v1/realtime': { kind: 'realtime' },
  '/v1/health': { kind: 'health' },
  '/livez': { kind: 'probe', probe: 'livez' },
  '/readyz': { kind: 'probe', probe: 'readyz' },
  // LiteLLM's paths, which load balancers still probe after a move.
  '/health/liveliness': { kind: 'probe', probe: 'livez' },
  '/health/liveness': { kind: 'probe', probe: 'livez' },
  '/health/readiness': { kind: 'probe', probe: 'readyz' },
}

/** Returns the documented path of a target, with `{id}` for an id. Spans are grouped by it, and responses are counted by it. */
export function routeOf(target: RouteTarget): string {
  if ('gemini' in target && target.gemini) return geminiPathOf(target.gemini)
  switch (target.kind) {
    case 'operation':
      return `/v1/${target.operation}`
    case 'cache':
      return `/v1/cache/${target.question}`
    case 'models':
      return target.id === null ? MODELS : `${MODELS}/{id}`
    case 'info':
      return `/v1/${target.about}`
    case 'realtime':
    case 'health':
      return `/v1/${target.kind}`
    case 'probe':
      return `/${target.probe}`
    case 'stored_object':
      return `/v1${routeOfStoredObject(target)}`
    default:
      return pathOf(target)
  }
}

function pathOf({ kind, endpoint }: Extract<RouteTarget, { endpoint: Endpoint }>): string {
  const isIt = (each: RouteTarget) => each.kind === kind && each.endpoint === endpoint
  return Object.entries(TARGETS_BY_PATH).find(([, each]) => isIt(each))?.[0] ?? ''
}

/** Azure's clients name the model in the path as a deployment, with unescaped slashes, and send an `api-version` in the query. */
const DEPLOYMENTS = '/deployments/'
/** Possible numbers of path segments after a deployment: /v1/chat/completions, /chat/completions, /embeddings. */
const SEGMENTS_AFTER_DEPLOYMENT = [3, 2, 1]

/**
 * Returns the path's target; null when there is none. Tolerates extra slashes, a base URL without /v1, and vendors' base paths.
 * A vendor in the path has precedence over one that the headers identify.
 */
export function resolveTarget(pathname: string, detector: VendorDetector, headers?: Headers): RouteTarget | null {
  const path = pathname.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const gemini = resolveGeminiTarget(path)
  if (gemini) return gemini
  const { rest, vendor } = detector.splitBase(path)
  const target = rest.startsWith(DEPLOYMENTS) ? readDeployment(rest) : readProxyPath(rest)
  return target && applyVendor(target, vendor ?? (headers ? detector.detect(headers) : null))
}

function readDeployment(rest: string): RouteTarget | null {
  const parts = rest.slice(DEPLOYMENTS.length).split('/')
  for (const count of SEGMENTS_AFTER_DEPLOYMENT) {
    const [model, endpoint] = [parts.slice(0, -count), parts.slice(-count)]
    const target = model.length === 0 ? null : addDeployment(model.join('/'), readProxyPath(`/${endpoint.join('/')}`))
    if (target) return target
  }
  return null
}

/**
 * Adds the client's vendor to a target. A request without a model goes to the vendor whose API its client uses: Anthropic's files are
 * another collection than OpenAI's. A client of the aggregator gets the usage of its streams.
 */
export function applyVendor(target: RouteTarget, vendor: ClientVendor | null): RouteTarget {
  if (target.kind === 'endpoint') return vendor === 'aggregator' ? { ...target, vendor } : target
  if (vendor === null) return target
  if (target.kind === 'operation') return { ...target, vendor }
  if (target.kind !== 'stored_object') return target
  const collection = collectionForVendor(target.collection, vendor)
  return traitsOf(collection).api === 'anthropic' ? { ...target, collection } : { ...target, vendor }
}

function readProxyPath(path: string): RouteTarget | null {
  if (Object.hasOwn(TARGETS_BY_PATH, path)) return TARGETS_BY_PATH[path] ?? null
  // Handles a base address that ends in /v1 with a client that adds /v1 itself.
  const proxyPath = `/v1${path.replace(/^(\/v1)+(?=\/|$)/, '')}`
  const target = Object.hasOwn(TARGETS_BY_PATH, proxyPath) ? TARGETS_BY_PATH[proxyPath] : undefined
  if (target) return target
  const operation = proxyPath.slice('/v1/'.length)
  if (isPassThroughOperation(operation)) return { kind: 'operation', operation, model: null }
  const object = parseStoredObjectPath(proxyPath.slice('/v1'.length))
  if (object) return { kind: 'stored_object', ...object }
  return proxyPath.startsWith(`${MODELS}/`) && !OTHER_GEMINI_METHOD.test(proxyPath)
    ? { kind: 'models', id: proxyPath.slice(MODELS.length + 1) }
    : null
}

/** Returns the target with the deployment as its model. A batch names a model in each of its lines instead. */
function addDeployment(escaped: string, target: RouteTarget | null): RouteTarget | null {
  if (target?.kind === 'stored_object' && target.collection === 'batches') return target
  if (target?.kind !== 'endpoint' && target?.kind !== 'operation') return null
  try {
    return { ...target, model: decodeURIComponent(escaped) }
  } catch {
    return null
  }
}

export const DASHBOARD_PATH = '/dashboard'

/** Returns the headers of the redirect to the dashboard; null unless a browser requests `/`. Programs still get a 404. */
export function createDashboardRedirect(request: Request): Record<string, string> | null {
  const isReadMethod = request.method === 'GET' || request.method === 'HEAD'
  if (!isReadMethod || parseUrl(request).pathname !== '/' || !acceptsHtml(request.headers.get('accept'))) return null
  return { location: DASHBOARD_PATH, vary: 'accept', 'cache-control': 'no-store' }
}

/** Whether the Accept header lists HTML explicitly. Programs accept everything by a wildcard. */
function acceptsHtml(accept: string | null): boolean {
  return (accept ?? '').split(',').some(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some(parameter => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

/** Endpoints of other APIs that some clients use by default, and advice on what to set instead. */
const UNSUPPORTED_ENDPOINTS: readonly [pattern: RegExp, api: string, advice: string][] = [
  [
    /\/(assistants|threads)(\/|$)/,
    'OpenAI’s Assistants API',
    'Send the whole conversation to POST /v1/chat/completions.',
  ],
  [
    /\/(conversations|vector_stores|containers|uploads|videos)(\/|$)/,
    'a part of OpenAI’s API that this proxy does not forward',
    'It forwards the operations that its documentation of pass-through operations lists.',
  ],
  [
    /\/realtime\/\w+(\/|$)/,
    'a part of OpenAI’s Realtime API that this proxy does not have',
    'Open a WebSocket at /v1/realtime with a key of this proxy.',
  ],
  [
    OTHER_GEMINI_METHOD,
    'a part of Gemini’s API that this proxy does not have',
    `It has these methods: ${GEMINI_METHODS.join(', ')}.`,
  ],
  [
    /\/[a-z]+-model$/,
    'the protocol of Vercel’s AI Gateway',
    'Choose your client’s provider for OpenAI-compatible servers, with a base address that ends in /v1.',
  ],
  [
    /\/(fine_tuning|evals|skills|agents|sessions|organizations)(\/|$)/,
    'an API that this proxy does not forward',
    'Give your client the vendor’s own address for these requests.',
  ],
]

/** Returns a 404 that says what to change. It quotes nothing of the path except known names. */
export function createNotFoundError(pathname: string): ProxyError {
  const known = UNSUPPORTED_ENDPOINTS.find(([pattern]) => pattern.test(pathname))
  if (!known) return createError('pathNotFound')
  const [pattern, api, advice] = known
  const match = pattern.exec(pathname)
  const endpoint = (match?.groups?.called ?? match?.[0] ?? '').replace(/^\/|\/$/g, '')
  return createError('endpointNotProvided', { endpoint, api, advice })
}

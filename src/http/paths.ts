/** Reads what a path asks for, with common misspellings. */
import type { HttpMethod, RouteTarget } from '../pipeline/request/request.ts'
import type { ObjectCollection } from '../postgres/stored-objects.ts'
import { listAllowedMethods, parseOpenAiObjectPath, subpathPatternOf } from '../providers/openai-collections.ts'
import { type ClientVendor, COLLECTION_PATHS, isPassThroughOperation } from '../providers/pass-through-operations.ts'
import type { Endpoint } from '../providers/upstream.ts'
import { splitVendorBase } from './detect-vendor.ts'

/** A name or an IP address, and a port. The names of two Host headers, which Bun joins, are none. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i
/** CONNECT names a host alone. */
const HAS_PATH = /^(?:https?:\/)?\//
/** For requests of HTTP/1.0, such as health checks, which need not name a host. */
const NO_HOST = 'http://localhost'

/** The last address that could be read: most are those before them. */
let readable: { url: string; host: string | null } | null = null

/** Whether `parseUrl` can read it. Asked once, before anything else. */
export function hasValidUrl({ url, headers }: Request): boolean {
  const host = headers.get('host')
  if (readable?.url === url && readable.host === host) return true
  if ((host !== null && !HOST.test(host)) || !HAS_PATH.test(url) || !URL.canParse(url, NO_HOST)) return false
  readable = { url, host }
  return true
}

export function parseUrl({ url }: Request): URL {
  return new URL(url, NO_HOST)
}

const GET: readonly HttpMethod[] = ['GET']
const POST: readonly HttpMethod[] = ['POST']
const GET_OR_POST: readonly HttpMethod[] = ['GET', 'POST']
const GET_OR_DELETE: readonly HttpMethod[] = ['GET', 'DELETE']

/** The parts of what providers keep, '' for all of it, and the methods that each allows. */
const KEPT_PARTS: Record<ObjectCollection, Readonly<Record<string, readonly HttpMethod[]>>> = {
  files: { '': GET_OR_DELETE, '/content': GET },
  anthropic_files: { '': GET_OR_DELETE, '/content': GET },
  batches: { '': GET, '/cancel': POST },
  message_batches: { '': GET_OR_DELETE, '/cancel': POST, '/results': GET },
}

export function allowedMethodsOf(target: RouteTarget): readonly HttpMethod[] {
  switch (target.kind) {
    case 'models':
    case 'told':
    case 'realtime':
    case 'health':
    case 'probe':
      return GET
    case 'response':
      return target.part === '' ? GET_OR_DELETE : target.part === '/cancel' ? POST : GET
    case 'bound':
      return listAllowedMethods(target)
    case 'kept':
      return target.id === null ? GET_OR_POST : (KEPT_PARTS[target.collection][target.part] ?? [])
    default:
      return POST
  }
}

/** Returns the method if the target allows it, else null. HEAD counts as GET on targets that are free of charge. */
export function resolveMethod(target: RouteTarget, method: string): HttpMethod | null {
  const meant = method === 'HEAD' && FREE.has(target.kind) ? 'GET' : method
  const methods: readonly string[] = allowedMethodsOf(target)
  return methods.includes(meant) ? (meant as HttpMethod) : null
}

const FREE: ReadonlySet<RouteTarget['kind']> = new Set(['health', 'models', 'told', 'probe'])

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
  '/v1/model/info': { kind: 'told', about: 'model/info' },
  '/v1/key': { kind: 'told', about: 'key' },
  '/v1/auth/key': { kind: 'told', about: 'key' },
  '/v1/credits': { kind: 'told', about: 'credits' },
  '/v1/realtime': { kind: 'realtime' },
  '/v1/health': { kind: 'health' },
  '/livez': { kind: 'probe', probe: 'livez' },
  '/readyz': { kind: 'probe', probe: 'readyz' },
}

/** The documented path of a target, with `{id}` for an id: what spans are grouped by, and answers counted by. */
export function routeOf(target: RouteTarget): string {
  switch (target.kind) {
    case 'operation':
      return `/v1/${target.operation}`
    case 'cache':
      return `/v1/cache/${target.question}`
    case 'models':
      return target.id === null ? MODELS : `${MODELS}/{id}`
    case 'told':
      return `/v1/${target.about}`
    case 'realtime':
    case 'health':
      return `/v1/${target.kind}`
    case 'probe':
      return `/${target.probe}`
    case 'response':
      return `/v1/responses/{id}${target.part}`
    case 'bound':
      return `/v1/${target.collection}${subpathPatternOf(target).replaceAll('*', '{id}')}`
    case 'kept':
      return `/v1${COLLECTION_PATHS[target.collection]}${target.id === null ? '' : '/{id}'}${target.part}`
    default:
      return pathOf(target)
  }
}

function pathOf({ kind, endpoint }: Extract<RouteTarget, { endpoint: Endpoint }>): string {
  const isIt = (each: RouteTarget) => each.kind === kind && each.endpoint === endpoint
  return Object.entries(TARGETS_BY_PATH).find(([, each]) => isIt(each))?.[0] ?? ''
}

/** Azure's clients name the model in the path as a deployment, its slashes as they are, and send an `api-version` in the query. */
const DEPLOYMENTS = '/deployments/'
/** Parts of a path behind a deployment: /v1/chat/completions, /chat/completions, /embeddings. */
const PARTS_BEHIND = [3, 2, 1]

/** What Gemini's and Vertex's clients call, whatever base address they were given, and with any slash in the model. */
export const GEMINI_PATH =
  /:(?<called>\w*(?:Contents?|Tokens)|generateAnswer|\w*[pP]redict(?:LongRunning)?)$(?<=\/models\/.+)|(?<=\/v1beta\d*\/)models(?=\/[^:]*$|$)/

/** One response, or a part of it; its ids contain no character that needs escaping. */
const RESPONSE = /^\/v1\/responses\/([\w-]{1,256})(\/cancel|\/input_items)?$/

const KEPT = new RegExp(`^/v1(${Object.values(COLLECTION_PATHS).join('|')})(?:/([\\w-]{1,256})(/[a-z]+)?)?$`)
const COLLECTIONS = Object.keys(COLLECTION_PATHS) as ObjectCollection[]

/**
 * Returns the path's target; null when there is none. Tolerates extra slashes, a base address without /v1, and those of vendors. `told` is
 * whom the headers name; the path says more.
 */
export function resolveTarget(pathname: string, told: ClientVendor | null = null): RouteTarget | null {
  const path = pathname.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const { behind, vendor } = splitVendorBase(path)
  const target = behind.startsWith(DEPLOYMENTS) ? readDeployment(behind) : readOurs(behind)
  return target && applyVendor(target, vendor ?? told)
}

function readDeployment(behind: string): RouteTarget | null {
  const parts = behind.slice(DEPLOYMENTS.length).split('/')
  for (const count of PARTS_BEHIND) {
    const [named, rest] = [parts.slice(0, -count), parts.slice(-count)]
    const target = named.length === 0 ? null : deploymentOf(named.join('/'), readOurs(`/${rest.join('/')}`))
    if (target) return target
  }
  return null
}

/**
 * What names no model goes to whom its client speaks: Anthropic's files are another collection than OpenAI's. A client of the aggregator's
 * is told the usage of its streams.
 */
export function applyVendor(target: RouteTarget, vendor: ClientVendor | null): RouteTarget {
  if (target.kind === 'endpoint') return vendor === 'aggregator' ? { ...target, vendor } : target
  if (vendor === null) return target
  if (target.kind === 'bound' || target.kind === 'operation' || target.kind === 'response') return { ...target, vendor }
  if (target.kind !== 'kept') return target
  if (target.collection === 'message_batches') return target
  const isAnthropics = target.collection === 'files' && vendor === 'anthropic'
  return isAnthropics ? { ...target, collection: 'anthropic_files' } : { ...target, vendor }
}

function readOurs(path: string): RouteTarget | null {
  if (Object.hasOwn(TARGETS_BY_PATH, path)) return TARGETS_BY_PATH[path] ?? null
  // Handles a base address that ends in /v1 with a client that adds /v1 itself.
  const ours = `/v1${path.replace(/^(\/v1)+(?=\/|$)/, '')}`
  const target = Object.hasOwn(TARGETS_BY_PATH, ours) ? TARGETS_BY_PATH[ours] : undefined
  if (target) return target
  const operation = ours.slice('/v1/'.length)
  if (isPassThroughOperation(operation)) return { kind: 'operation', operation, model: null }
  const kept = readKept(ours)
  if (kept) return kept
  const bound = parseOpenAiObjectPath(ours.slice('/v1'.length))
  if (bound) return { kind: 'bound', ...bound }
  const [, id, part = ''] = RESPONSE.exec(ours) ?? []
  if (id !== undefined) return { kind: 'response', id, part }
  return ours.startsWith(`${MODELS}/`) && !GEMINI_PATH.test(ours)
    ? { kind: 'models', id: ours.slice(MODELS.length + 1) }
    : null
}

function readKept(ours: string): RouteTarget | null {
  const [, path, id = null, part = ''] = KEPT.exec(ours) ?? []
  const collection = COLLECTIONS.find(name => COLLECTION_PATHS[name] === path)
  return collection && part in KEPT_PARTS[collection] ? { kind: 'kept', collection, id, part } : null
}

/** The target with the deployment as its model. Batches name their models line by line. */
function deploymentOf(escaped: string, target: RouteTarget | null): RouteTarget | null {
  if (target?.kind === 'kept' && target.collection === 'batches') return target
  if (target?.kind !== 'endpoint' && target?.kind !== 'operation') return null
  try {
    return { ...target, model: decodeURIComponent(escaped) }
  } catch {
    return null
  }
}

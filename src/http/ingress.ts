/** Handles an incoming request before its body is read: limits connections, resolves the client's address, creates its context, and answers its errors. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { findKeyHash } from '../admission/key-validator.ts'
import type { Config } from '../config/config.ts'
import { ClientDisconnected, createError, ProxyError } from '../errors/errors.ts'
import type { StreamMemory } from '../event-loop/stream-memory.ts'
import type { RouteTarget } from '../pipeline/request/request.ts'
import { isNulCharacterError } from '../postgres/database.ts'
import { addressPrefix } from '../stores/fast-store.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import type { ProxyMetrics } from '../telemetry/proxy-metrics.ts'
import { isCountedRejection, type RejectionCounter } from '../telemetry/rejection-counter.ts'
import { isGoogleUrl, readQuery } from './gemini-api.ts'
import type { Readiness } from './health.ts'
import { isHttps } from './is-https.ts'
import { routeOf } from './paths.ts'
import { type Cors, detectApiForm, type HttpRequestContext, respondWithError } from './respond.ts'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * Returns the client's address. Each of the `trustedProxies` appends the address it saw to X-Forwarded-For. So the address is that many
 * entries from the right, with the socket's own as the last. The client may have forged any entry further left.
 */
export function resolveClientAddress(
  socketAddress: string,
  forwardedFor: string | null,
  trustedProxies: number,
): string {
  const socket = unmapAddress(socketAddress)
  if (trustedProxies === 0 || forwardedFor === null) return socket
  const chain = [...forwardedFor.split(',').map(address => unmapAddress(address.trim())), socket]
  const address = chain[Math.max(0, chain.length - 1 - trustedProxies)]
  return address !== undefined && isIP(address) !== 0 ? address : socket
}

function unmapAddress(address: string): string {
  return MAPPED_IPV4.exec(address)?.[1] ?? address
}

/** Headers with a bare key, checked in this order when there is no Authorization header. */
const BARE_KEY_HEADERS = ['api-key', 'x-api-key', 'x-goog-api-key']

/**
 * Returns the Authorization header, or the one that Azure's, Anthropic's and Google's clients use instead, or the key in the query of Gemini's
 * API; null when the request has no key.
 */
export function readAuthorization({ headers, url }: Pick<Request, 'headers' | 'url'>): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) return authorization
  for (const name of BARE_KEY_HEADERS) {
    const key = headers.get(name)
    if (key !== null && key.trim() !== '') return `Bearer ${key.trim()}`
  }
  const key = isGoogleUrl(url) ? readQuery(url, 'key')?.trim() : undefined
  return key ? `Bearer ${key}` : null
}

const VALID_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/

/** Returns the client's X-Request-Id if it is well formed, else a generated one. */
export function readRequestId(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && VALID_REQUEST_ID.test(given) ? given : crypto.randomUUID()
}

/** The part of Bun's server that handlers use. */
export interface HttpServer {
  readonly pendingRequests: number
  closeIdleConnections(): number
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
  /** Turns the connection into a WebSocket, whose messages `data` receives. Returns false when it cannot. */
  upgrade(request: Request, options: { headers: Record<string, string>; data: object }): boolean
}

/** A request, and the server that received it. */
export interface IncomingRequest {
  request: Request
  server: HttpServer | null
}

export interface IngressOptions {
  config: Pick<Config, 'trustedProxies'>
  cors: Cors
  readiness: Pick<Readiness, 'isDraining'>
  connections: Pick<ConnectionLimiter, 'isNearLimit'>
  memory: StreamMemory
  rejections: RejectionCounter
  metrics: Pick<ProxyMetrics, 'countUnrecorded'>
  log: Log
}

export interface Ingress {
  createContext(request: Request): HttpRequestContext
  /** The client's address. */
  clientAddressOf(incoming: IncomingRequest): string
  /**
   * Turns an error into a response. An internal error becomes a 500 without details, and a line in the log. `key`: the Bearer key, if
   * `readAuthorization` does not find it.
   */
  respondToError(error: unknown, incoming: IncomingRequest, context: HttpRequestContext, key?: string | null): Response
  /** Counts a response without a usage record; `target` is null if the request has none. */
  countUnrecorded(target: RouteTarget | null, status: number): void
}

export function createIngress(options: IngressOptions): Ingress {
  const { config, cors, readiness, connections, memory, rejections, metrics, log } = options
  function clientAddressOf({ request, server }: IncomingRequest): string {
    const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
    const forwardedFor = config.trustedProxies === 0 ? null : request.headers.get('x-forwarded-for')
    return resolveClientAddress(socketAddress, forwardedFor, config.trustedProxies)
  }

  return {
    clientAddressOf,
    createContext: request => ({
      requestId: readRequestId(request.headers),
      arrivedAtMs: performance.now(),
      corsHeaders: cors.headersFor(request),
      apiForm: detectApiForm(request),
      closesConnection: readiness.isDraining() || connections.isNearLimit(),
      isSecure: isHttps(request, config.trustedProxies),
      memory,
    }),
    respondToError(error, incoming, context, key = readAuthorization(incoming.request)) {
      const proxyError = asProxyError(error, context, log)
      if (isCountedRejection(proxyError))
        rejections.record(proxyError.code, addressPrefix(clientAddressOf(incoming)), findKeyHash(key))
      return respondWithError(proxyError, context)
    },
    countUnrecorded: (target, status) => metrics.countUnrecorded(target ? routeOf(target) : 'other', status),
  }
}

function asProxyError(error: unknown, { requestId }: HttpRequestContext, log: Log): ProxyError {
  if (error instanceof ProxyError) {
    if (error.status >= 500)
      log.warn(
        { id: requestId, code: error.code, ...(error.cause !== undefined && { cause: describeCause(error.cause) }) },
        'request failed',
      )
    return error
  }
  if (isNulCharacterError(error)) return createError('nullCharacter')
  if (error instanceof ClientDisconnected) return createError('internal', null, error)
  const where = error instanceof Error ? error.stack?.split('\n').slice(1, 4).join('\n') : undefined
  log.failures.report('request', error, 'unexpected error', { fields: { id: requestId, where } })
  return createError('internal', null, error)
}

/** Descriptors reserved for stores (the embedded database opens up to 64 files), files, the log, operators' sessions, and health checks. */
const RESERVED_DESCRIPTORS = 96
/** A request may use two descriptors: its client's and its upstream's. */
const DESCRIPTORS_PER_REQUEST = 2
/**
 * Above this share of open descriptors, no connection is kept alive. A client that begins another request on a connection has a minute to
 * send its head, and is not idle meanwhile.
 */
const NEAR_LIMIT_SHARE = 0.5
/** Minimum number of requests between two counts of open descriptors. A count takes microseconds. */
const MIN_REQUESTS_PER_COUNT = 8
/** Above this share of open descriptors, idle connections are closed in favor of active ones. */
const CLOSE_IDLE_SHARE = 0.75
const COUNT_EVERY_MS = 250
const DESCRIPTORS = '/proc/self/fd'

/** Limits how many requests a process accepts at once, and keeps descriptors free for health checks and operators. */
export interface ConnectionLimiter {
  /** Throws a 503 when the process has as many requests in flight as it can hold. */
  check(server: Pick<HttpServer, 'pendingRequests'>): void
  /** Whether connections must be closed after their responses. */
  isNearLimit(): boolean
  /** Counts the open descriptors periodically, and closes idle connections when few are free. `onCrowded` gets their number. */
  watch(server: Pick<HttpServer, 'closeIdleConnections'>, onCrowded: (closed: number) => void): { stop(): void }
}

/** `descriptors` is the process's limit of open descriptors. */
export function createConnectionLimiter(
  descriptors = readDescriptorLimit(),
  countOpen = countDescriptors,
): ConnectionLimiter {
  const maxRequests = Math.max(1, Math.floor((descriptors - RESERVED_DESCRIPTORS) / DESCRIPTORS_PER_REQUEST))
  const closeIdleFrom = Math.floor(descriptors * CLOSE_IDLE_SHARE)
  const nearLimitFrom = descriptors * NEAR_LIMIT_SHARE
  let isNearLimit = false
  /** Number of requests that cannot use up the descriptors that were free at the last count. */
  let requestsUntilCount = 0
  function count(): number {
    const openDescriptors = countOpen()
    isNearLimit = openDescriptors > nearLimitFrom
    requestsUntilCount = Math.max(
      MIN_REQUESTS_PER_COUNT,
      Math.floor((nearLimitFrom - openDescriptors) / (2 * DESCRIPTORS_PER_REQUEST)),
    )
    return openDescriptors
  }
  return {
    isNearLimit() {
      if (requestsUntilCount-- <= 0) count()
      return isNearLimit
    },
    check(server) {
      if (server.pendingRequests > maxRequests) throw createError('tooManyConnections')
    },
    watch(server, onCrowded) {
      const timer = setInterval(() => {
        if (count() < closeIdleFrom) return
        const closed = server.closeIdleConnections()
        if (closed > 0) onCrowded(closed)
      }, COUNT_EVERY_MS)
      timer.unref()
      return { stop: () => clearInterval(timer) }
    },
  }
}

/** Returns the limit that Linux reports; elsewhere, a common default. */
function readDescriptorLimit(): number {
  const limits = readText('/proc/self/limits')
  const soft = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1]
  return soft === undefined ? 10_240 : Number(soft)
}

/** Returns the number of open descriptors, which newer kernels report as the directory's size; 0 on other systems. */
function countDescriptors(): number {
  try {
    return statSync(DESCRIPTORS).size || readdirSync(DESCRIPTORS).length
  } catch {
    return 0
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

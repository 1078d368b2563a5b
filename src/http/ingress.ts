/** A request as it comes in: whether there is room for it, who sends it, what is known before it is read, and how its errors are answered. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
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
import { isHttps } from './is-https.ts'
import { routeOf } from './paths.ts'
import type { Readiness } from './readiness.ts'
import { type Cors, expectsAnthropicErrors, type HttpRequestContext, respondWithError } from './respond.ts'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * Each of the `trustedProxies` in front appends the address it saw to X-Forwarded-For. So the client's address is that many entries from
 * the right, with the socket's own as the last. The client may have made up any entry further left.
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

/** Tried in this order when there is no Authorization header. */
const BARE_KEY_HEADERS = ['api-key', 'x-api-key']

/** Returns the Authorization header, or the one that Azure's and Anthropic's clients use instead; null when the request has no key. */
export function readAuthorization(headers: Headers): string | null {
  const authorization = headers.get('authorization')
  if (authorization !== null) return authorization
  for (const name of BARE_KEY_HEADERS) {
    const key = headers.get(name)
    if (key !== null && key.trim() !== '') return `Bearer ${key.trim()}`
  }
  return null
}

const SANE = /^[A-Za-z0-9._:-]{1,128}$/

/** The client's X-Request-Id if it is well formed, else a generated one. */
export function readRequestId(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && SANE.test(given) ? given : crypto.randomUUID()
}

/** The part of Bun's server that handlers use. */
export interface HttpServer {
  readonly pendingRequests: number
  closeIdleConnections(): number
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
  /** `data` takes the messages of the WebSocket that the connection becomes. False when it cannot. */
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
  /** Turns an error into a response. An internal error becomes a 500 without details, and a line in the log. */
  respondToError(error: unknown, incoming: IncomingRequest, arrival: HttpRequestContext): Response
  /** Counts an answer that leaves no record; `target` is null where the request has none. */
  countUnrecorded(target: RouteTarget | null, status: number): void
}

export function createIngress(options: IngressOptions): Ingress {
  const { config, cors, readiness, connections, memory, rejections, metrics, log } = options
  function addressOf({ request, server }: IncomingRequest): string {
    const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
    const forwardedFor = config.trustedProxies === 0 ? null : request.headers.get('x-forwarded-for')
    return resolveClientAddress(socketAddress, forwardedFor, config.trustedProxies)
  }

  return {
    clientAddressOf: addressOf,
    createContext: request => ({
      requestId: readRequestId(request.headers),
      arrivedAtMs: performance.now(),
      corsHeaders: cors.headersFor(request),
      isAnthropic: expectsAnthropicErrors(request),
      closesConnection: readiness.isDraining() || connections.isNearLimit(),
      isSecure: isHttps(request, config.trustedProxies),
      memory,
    }),
    respondToError(error, incoming, arrival) {
      const refused = asProxyError(error, arrival, log)
      if (isCountedRejection(refused)) rejections.record(refused.code, addressPrefix(addressOf(incoming)))
      return respondWithError(refused, arrival)
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

/** For stores (the embedded database opens up to 64 files), files, the log, operators' sessions, and health checks. */
const KEPT_DESCRIPTORS = 96
/** A request may hold two: its client's and its upstream's. */
const DESCRIPTORS_A_REQUEST = 2
/** Above this share, no connection is kept: whoever begins a next request on one has a minute to send its head, and is not idle. */
const FILLING_SHARE = 0.5
/** At least so many requests share a look, which takes microseconds. */
const REQUESTS_A_LOOK = 8
/** Above this share, idle connections are closed to make room for active ones. */
const CROWDED_SHARE = 0.75
const LOOK_EVERY_MS = 250
const DESCRIPTORS = '/proc/self/fd'

/** Limits how many requests a process takes at once, and keeps descriptors free for health checks and operators. */
export interface ConnectionLimiter {
  /** Throws a 503 when the process has as many requests in flight as it can hold. */
  check(server: Pick<HttpServer, 'pendingRequests'>): void
  /** Whether connections are to end with their answers. */
  isNearLimit(): boolean
  /** Checks the process's descriptors periodically, and closes idle connections when they run short. */
  watch(server: Pick<HttpServer, 'closeIdleConnections'>, onCrowded: (closed: number) => void): { stop(): void }
}

/** `descriptors` is the process's limit of open descriptors. */
export function createConnectionLimiter(
  descriptors = readDescriptorLimit(),
  countOpen = countDescriptors,
): ConnectionLimiter {
  const most = Math.max(1, Math.floor((descriptors - KEPT_DESCRIPTORS) / DESCRIPTORS_A_REQUEST))
  const crowded = Math.floor(descriptors * CROWDED_SHARE)
  const filling = descriptors * FILLING_SHARE
  let isFilling = false
  /** Requests that cannot fill what was free at the last look. */
  let safe = 0
  function look(): number {
    const open = countOpen()
    isFilling = open > filling
    safe = Math.max(REQUESTS_A_LOOK, Math.floor((filling - open) / (2 * DESCRIPTORS_A_REQUEST)))
    return open
  }
  return {
    isNearLimit() {
      if (safe-- <= 0) look()
      return isFilling
    },
    check(server) {
      if (server.pendingRequests > most) throw createError('tooManyConnections')
    },
    watch(server, onCrowded) {
      const timer = setInterval(() => {
        if (look() < crowded) return
        const closed = server.closeIdleConnections()
        if (closed > 0) onCrowded(closed)
      }, LOOK_EVERY_MS)
      timer.unref()
      return { stop: () => clearInterval(timer) }
    },
  }
}

/** Linux reports the limit; elsewhere, a usual value of such systems. */
function readDescriptorLimit(): number {
  const limits = readText('/proc/self/limits')
  const soft = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1]
  return soft === undefined ? 10_240 : Number(soft)
}

/** Newer kernels report the number as the folder's size; 0 on other systems. */
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

/** A request as it comes in: what is known before it is read, and how its errors are answered. */
import type { Config } from '../config.ts'
import { ClientGone, ProxyError, refuse } from '../errors.ts'
import { isUnstorableText } from '../postgres/database.ts'
import { describeCause } from '../telemetry/describe-cause.ts'
import type { Log } from '../telemetry/log.ts'
import { isCountedRefusal, type Refusals } from '../telemetry/refusals.ts'
import { addressPrefix, readClientAddress, readRequestId } from './client.ts'
import { isAnthropicPath } from './paths.ts'
import type { Readiness } from './readiness.ts'
import { type Arrival, type Cors, respondWithError } from './respond.ts'

/** The part of Bun's server that handlers use. */
export interface Server {
  readonly pendingRequests: number
  closeIdleConnections(): number
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

/** A request, and the server that received it. */
export interface Incoming {
  request: Request
  server: Server | null
}

export interface EntranceOptions {
  config: Pick<Config, 'trustedProxies'>
  cors: Cors
  readiness: Pick<Readiness, 'isDraining'>
  refusals: Refusals
  log: Log
}

export interface Entrance {
  arrive(request: Request): Arrival
  /** The address that limits count by: for an IPv6 client its /64. */
  addressOf(incoming: Incoming): string
  /** Turns an error into a response. An internal error becomes a 500 without details, and a line in the log. */
  fail(error: unknown, incoming: Incoming, arrival: Arrival): Response
}

export function createEntrance({ config, cors, readiness, refusals, log }: EntranceOptions): Entrance {
  function addressOf({ request, server }: Incoming): string {
    const socketAddress = server?.requestIP(request)?.address ?? '127.0.0.1'
    const forwardedFor = config.trustedProxies === 0 ? null : request.headers.get('x-forwarded-for')
    return addressPrefix(readClientAddress(socketAddress, forwardedFor, config.trustedProxies))
  }

  return {
    addressOf,
    arrive: request => ({
      requestId: readRequestId(request.headers),
      atMs: performance.now(),
      corsHeaders: cors.headersFor(request),
      isAnthropic: isAnthropicPath(request.url.split('?')[0] ?? ''),
      isLast: readiness.isDraining(),
    }),
    fail(error, incoming, arrival) {
      const refused = asProxyError(error, arrival, log)
      if (isCountedRefusal(refused)) refusals.note(refused.code, addressOf(incoming))
      return respondWithError(refused, arrival)
    },
  }
}

function asProxyError(error: unknown, { requestId }: Arrival, log: Log): ProxyError {
  if (error instanceof ProxyError) {
    if (error.status >= 500)
      log.warn({ id: requestId, code: error.code, cause: describeCause(error.cause) }, 'request failed')
    return error
  }
  if (isUnstorableText(error)) return refuse('unstorableText')
  if (error instanceof ClientGone) return refuse('internal', null, error)
  const where = error instanceof Error ? error.stack?.split('\n').slice(1, 4).join('\n') : undefined
  log.error({ id: requestId, cause: describeCause(error), where }, 'unexpected error')
  return refuse('internal', null, error)
}

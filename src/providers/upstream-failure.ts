/** Errors of upstreams, classified by whether a retry or a fallback may help. */

import { createErrorOptions, ProxyError, type ProxyErrorOptions } from '../errors/errors.ts'
import type { Completeness } from '../formats/chat/completeness.ts'
import { asString } from '../formats/json/canonical.ts'
import type { TokenUsage } from '../formats/token-usage.ts'
import type { Credentials } from './credentials/credentials.ts'

/**
 * unconnected: nothing was sent. connect-timeout: the same, and another attempt at the address would take as long. cut: the connection ended
 * before a response began. silent: a part of the response did not arrive in time. broken: the response is unusable. empty: the response has
 * status 200 but no output. reported: the provider reported an error in a response with status 200. open-circuit: the upstream was not called,
 * because it kept failing. resting: it was not called, because it limits the rate.
 */
export type UpstreamFailureKind =
  | 'unconnected'
  | 'connect-timeout'
  | 'cut'
  | 'silent'
  | 'broken'
  | 'empty'
  | 'reported'
  | 'open-circuit'
  | 'resting'

export class UpstreamFailure extends ProxyError {
  readonly kind: UpstreamFailureKind
  /** The upstream's status; null when there was no response, or when its status was not the problem. */
  readonly upstreamStatus: number | null
  /** The limit that was exceeded, in milliseconds; Infinity for a limit of the process; null for any failure except a timeout. */
  timeoutMs: number | null = null
  /** The number of calls to the upstream. */
  attempts: number
  /** The usage that the provider reported in spite of the failure; null when it reported none. */
  usage: TokenUsage | null = null
  /** Whether a request to the model should be sent now as a trial, because its circuit was open for long enough. */
  isTrialDue = false
  /** As in UpstreamResponse. */
  attemptedKeys?: readonly string[]
  credentials?: Credentials

  constructor(kind: UpstreamFailureKind, options: ProxyErrorOptions, upstreamStatus: number | null = null) {
    super(options)
    this.kind = kind
    this.upstreamStatus = upstreamStatus
    this.attempts = this.isUnsent ? 0 : 1
  }

  /** Whether no connection to the upstream was established. */
  get isUnconnected(): boolean {
    return this.kind === 'unconnected' || this.kind === 'connect-timeout'
  }

  /** Whether the upstream was not called. */
  get isUnsent(): boolean {
    return this.kind === 'open-circuit' || this.kind === 'resting'
  }
}

/** Returns a 504: no connection was established in time. */
export function connectTimeoutError(provider: string, limitMs: number): UpstreamFailure {
  const options = createErrorOptions('upstreamConnectTimeout', { provider, limitMs: Math.round(limitMs) })
  return Object.assign(new UpstreamFailure('connect-timeout', options), { timeoutMs: Number.POSITIVE_INFINITY })
}

/**
 * Returns a 504: the request was sent, but a part of the response did not arrive in time. `awaited` names the part. `isOfRequest` is whether the
 * limit is the request's, and not the process's.
 */
export function responseTimeoutError(
  provider: string,
  awaited: string,
  limitMs: number,
  isOfRequest = false,
): UpstreamFailure {
  const options = createErrorOptions('upstreamTimeout', { provider, awaited, limitMs: Math.round(limitMs) })
  return Object.assign(new UpstreamFailure('silent', options), {
    timeoutMs: isOfRequest ? limitMs : Number.POSITIVE_INFINITY,
  })
}

/** Returns a 502: a network error before the response began. */
export function unreachableError(provider: string, cause: unknown): UpstreamFailure {
  return new UpstreamFailure(
    isUnconnected(cause) ? 'unconnected' : 'cut',
    createErrorOptions('upstreamUnreachable', { provider }, cause),
  )
}

/** Returns a 502: the response was incomplete or invalid. `how` completes a sentence whose subject is the upstream. */
export function brokenResponseError(provider: string, how: string, status?: number, cause?: unknown): UpstreamFailure {
  const fault = status === undefined ? how : `${how} (status ${status})`
  return new UpstreamFailure('broken', createErrorOptions('upstreamBroken', { provider, fault }, cause), status ?? null)
}

const REPORTED: ReadonlySet<Completeness> = new Set<Completeness>([
  'error_in_body',
  'error_in_choice',
  'error_in_stream',
])

/** Returns a failure inside a response with status 200. `error` has the provider's message and status if it reported an error, else a 502. */
export function failedResponseError(
  error: Required<Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>>,
  completeness: Completeness,
  usage: TokenUsage | null,
): UpstreamFailure {
  const kind = REPORTED.has(completeness) ? 'reported' : 'empty'
  const { status, code, message, type } = error
  return Object.assign(new UpstreamFailure(kind, { status, code, message, type, replacesResponse: true }), { usage })
}

/** Returns the error of a stream before its first part, with the usage that the provider had reported by then. */
export function attachUsage(error: unknown, usage: TokenUsage | null): unknown {
  if (error instanceof UpstreamFailure) return Object.assign(error, { usage })
  return error instanceof ProxyError ? failedResponseError(error, 'error_in_stream', usage) : error
}

/** Returns whether the failure may be temporary. It is not when the provider reported an error about the request. */
export function isTemporary(failure: UpstreamFailure): boolean {
  return failure.kind !== 'reported' || isTemporaryStatus(failure.status)
}

/** Returns a 502: the body ended without a response in it, for example an error page, an empty body, or text that is not JSON. */
export function emptyResponseError(provider: string, fault: string): UpstreamFailure {
  const error = createErrorOptions('upstreamBroken', { provider, fault })
  return new UpstreamFailure('empty', { ...error, replacesResponse: true })
}

/** Returns a 503 that states how long to wait. */
export function circuitOpenError(provider: string, waitMs: number, { isTrialDue = false } = {}): UpstreamFailure {
  const error = createErrorOptions('circuitOpen', { provider, seconds: toSeconds(waitMs) })
  return Object.assign(new UpstreamFailure('open-circuit', error), { isTrialDue })
}

/** Returns a 429 that states how long to wait. */
export function keyRestingError(provider: string, waitMs: number): UpstreamFailure {
  return new UpstreamFailure('resting', createErrorOptions('keyResting', { provider, seconds: toSeconds(waitMs) }))
}

function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

/** Returns whether an upstream’s error may be temporary: 408, 429, and 5xx except 501 and 505. */
export function isTemporaryStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}

/** Matches error codes of a connection that was never established, or whose TLS handshake failed. */
const CONNECT_ERROR_CODES =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPROTO)$|^ERR_TLS_|^UNABLE_TO_|CERT/

function isUnconnected(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && CONNECT_ERROR_CODES.test(asString(cause.code))
}

/** Errors of upstreams, classified by whether a retry or a fallback may help. */

import { createErrorOptions, ProxyError, type ProxyErrorOptions } from '../errors/errors.ts'
import type { Completeness } from '../formats/chat/completeness.ts'
import { asString } from '../formats/json/canonical.ts'
import type { TokenUsage } from '../formats/token-usage.ts'
import type { Credentials } from './credentials/credentials.ts'
import { type FailureKind, kindOfError, kindOfStatus, kindOfTimeout } from './failure-kind.ts'

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

/** The exact kind where nothing more is known. */
const FAILURE_KINDS_BY_KIND: Record<UpstreamFailureKind, FailureKind> = {
  unconnected: 'unreachable',
  'connect-timeout': 'connect_timeout',
  cut: 'connection_reset',
  silent: 'response_timeout',
  broken: 'malformed',
  empty: 'malformed',
  reported: 'server_error',
  'open-circuit': 'circuit_open',
  resting: 'resting',
}

export class UpstreamFailure extends ProxyError {
  readonly kind: UpstreamFailureKind
  /** The upstream's status; null when there was no response, or when its status was not the problem. */
  readonly upstreamStatus: number | null
  /** The limit that was exceeded, in milliseconds; Infinity for a limit of the process; null for any failure except a timeout. */
  timeoutMs: number | null = null
  /** The kind in lists of attempts, which is more exact. */
  failureKind: FailureKind
  /** The usage that the provider reported in spite of the failure; null when it reported none. */
  usage: TokenUsage | null = null
  /** Whether a request to the model should be sent now as a trial, because its circuit was open for long enough. */
  isTrialDue = false
  /** As in UpstreamResponse. */
  credentials?: Credentials

  constructor(kind: UpstreamFailureKind, options: ProxyErrorOptions, upstreamStatus: number | null = null) {
    super(options)
    this.kind = kind
    this.upstreamStatus = upstreamStatus
    const isError = upstreamStatus !== null && upstreamStatus >= 400
    this.failureKind = isError ? kindOfStatus(upstreamStatus) : FAILURE_KINDS_BY_KIND[kind]
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
    failureKind: kindOfTimeout(awaited),
  })
}

/** Returns a 502: a network error before the response began. */
export function unreachableError(provider: string, cause: unknown): UpstreamFailure {
  const connectFailure = classifyConnectError(cause)
  const failure = new UpstreamFailure(
    connectFailure === null ? 'cut' : 'unconnected',
    createErrorOptions('upstreamUnreachable', { provider }, cause),
  )
  return Object.assign(failure, connectFailure && { failureKind: connectFailure })
}

/** Returns a 502: the response was incomplete or invalid. `how` completes a sentence whose subject is the upstream. */
export function brokenResponseError(provider: string, how: string, status?: number, cause?: unknown): UpstreamFailure {
  const fault = status === undefined ? how : `${how} (status ${status})`
  const error = createErrorOptions('upstreamBroken', { provider, fault }, cause)
  const failure = new UpstreamFailure('broken', error, status ?? null)
  return Object.assign(failure, cause !== undefined && { failureKind: 'truncated' as const })
}

const REPORTED: ReadonlySet<Completeness> = new Set<Completeness>([
  'error_in_body',
  'error_in_choice',
  'error_in_stream',
])

/** The kinds of failures in which no error was reported. */
const KINDS_BY_COMPLETENESS: Partial<Record<Completeness, FailureKind>> = {
  empty_choice: 'empty',
  empty_message: 'empty',
  no_output: 'empty',
  unfinished_choice: 'truncated',
  missing_end: 'truncated',
  unknown_finish_reason: 'server_error',
}

/** Returns a failure inside a response with status 200. `error` has the provider's message and status if it reported an error, else a 502. */
export function failedResponseError(
  error: Required<Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>>,
  completeness: Completeness,
  usage: TokenUsage | null,
): UpstreamFailure {
  const kind = REPORTED.has(completeness) ? 'reported' : 'empty'
  const { status, code, message, type } = error
  const failure = new UpstreamFailure(kind, { status, code, message, type, replacesResponse: true })
  const reported = kind === 'reported' ? kindOfError(status, { error: { code, message } }) : null
  return Object.assign(failure, { usage, failureKind: reported ?? KINDS_BY_COMPLETENESS[completeness] ?? 'malformed' })
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

const CONNECT_ERRORS: readonly (readonly [RegExp, FailureKind])[] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'dns_error'],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, 'unreachable'],
  [/^EPROTO$|^ERR_TLS_|^UNABLE_TO_|CERT/, 'tls_error'],
]

/** Returns the kind of an error of a connection that was never established, or whose TLS handshake failed; null for any other error. */
function classifyConnectError(cause: unknown): FailureKind | null {
  const code = cause instanceof Error && 'code' in cause ? asString(cause.code) : ''
  return CONNECT_ERRORS.find(([pattern]) => pattern.test(code))?.[1] ?? null
}

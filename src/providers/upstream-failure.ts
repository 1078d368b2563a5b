/** How an upstream can fail before it responds, classified by what can be done about it. */

import { createErrorOptions, ProxyError, type ProxyErrorOptions } from '../errors/errors.ts'
import type { Completeness } from '../formats/chat/completeness.ts'
import { asString } from '../formats/json/canonical.ts'
import type { TokenUsage } from '../formats/token-usage.ts'
import type { Credentials } from './credentials/credentials.ts'

/**
 * unconnected: nothing was sent. cut: the connection ended before a response began. silent: no response in time. broken: an unusable
 * response. empty: a response with status 200 without an answer in it. reported: an error that the provider reported in such a response.
 * open-circuit: not called, because it kept failing.
 */
export type UpstreamFailureKind = 'unconnected' | 'cut' | 'silent' | 'broken' | 'empty' | 'reported' | 'open-circuit'

export class UpstreamFailure extends ProxyError {
  readonly kind: UpstreamFailureKind
  /** The status that the upstream answered with; null when it gave none, or one that was in order. */
  readonly upstreamStatus: number | null
  /** How often the upstream was asked. */
  attempts: number
  /** What the provider reported that it used all the same; null when it reported nothing. */
  usage: TokenUsage | null = null
  /** As an answer's. */
  attemptedKeys?: readonly string[]
  credentials?: Credentials

  constructor(kind: UpstreamFailureKind, options: ProxyErrorOptions, upstreamStatus: number | null = null) {
    super(options)
    this.kind = kind
    this.upstreamStatus = upstreamStatus
    this.attempts = kind === 'open-circuit' ? 0 : 1
  }
}

/** 504: no connection was made in time. */
export function connectTimeoutError(provider: string, limitMs: number): UpstreamFailure {
  return new UpstreamFailure(
    'unconnected',
    createErrorOptions('upstreamConnectTimeout', { provider, limitMs: Math.round(limitMs) }),
  )
}

/** 504: the request was sent. `awaited` is the first or the next byte. */
export function responseTimeoutError(provider: string, awaited: string, limitMs: number): UpstreamFailure {
  return new UpstreamFailure(
    'silent',
    createErrorOptions('upstreamTimeout', { provider, awaited, limitMs: Math.round(limitMs) }),
  )
}

/** 502: a network error before the response began. */
export function unreachableError(provider: string, cause: unknown): UpstreamFailure {
  return new UpstreamFailure(
    isUnconnected(cause) ? 'unconnected' : 'cut',
    createErrorOptions('upstreamUnreachable', { provider }, cause),
  )
}

/** 502: the response was incomplete or invalid. */
export function brokenResponseError(provider: string, how: string, status?: number, cause?: unknown): UpstreamFailure {
  const fault = status === undefined ? how : `${how} (status ${status})`
  return new UpstreamFailure('broken', createErrorOptions('upstreamBroken', { provider, fault }, cause), status ?? null)
}

const REPORTED: ReadonlySet<Completeness> = new Set<Completeness>([
  'error_in_body',
  'error_in_choice',
  'error_in_stream',
])

/** A failure inside a response with status 200: in the provider's own words and with its status, if it reported one; else a 502. */
export function failedResponseError(
  error: Required<Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>>,
  completeness: Completeness,
  usage: TokenUsage | null,
): UpstreamFailure {
  const kind = REPORTED.has(completeness) ? 'reported' : 'empty'
  const { status, code, message, type } = error
  return Object.assign(new UpstreamFailure(kind, { status, code, message, type, replacesResponse: true }), { usage })
}

/** The failure of a stream before its first part, with what the provider had reported by then. */
export function attachUsage(error: unknown, usage: TokenUsage | null): unknown {
  if (error instanceof UpstreamFailure) return Object.assign(error, { usage })
  return error instanceof ProxyError ? failedResponseError(error, 'error_in_stream', usage) : error
}

/** Whether another model may answer: an error that the provider reported may concern the request. */
export function canFallBack(failure: UpstreamFailure): boolean {
  return failure.kind !== 'reported' || isTemporaryStatus(failure.status)
}

/** 502: what came has ended, and holds no response: an error page, an empty body, text that is no JSON. */
export function emptyResponseError(provider: string, fault: string): UpstreamFailure {
  const error = createErrorOptions('upstreamBroken', { provider, fault })
  return new UpstreamFailure('empty', { ...error, replacesResponse: true })
}

/** 503 that says how long to stay away. */
export function circuitOpenError(provider: string, waitMs: number): UpstreamFailure {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new UpstreamFailure('open-circuit', createErrorOptions('circuitOpen', { provider, seconds }))
}

/** Whether an upstream’s error may be over a moment later: 408, 429, 5xx. */
export function isTemporaryStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}

/** Error codes of a connection that was never made, or whose TLS was not agreed on. */
const UNCONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPROTO)$|^ERR_TLS_|^UNABLE_TO_|CERT/

function isUnconnected(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && UNCONNECTED.test(asString(cause.code))
}

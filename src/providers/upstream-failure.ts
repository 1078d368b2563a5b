/** How an upstream can fail before it responds, classified by what can be done about it. */

import { describeError, ProxyError, type ProxyErrorOptions } from '../errors/errors.ts'
import type { Completeness } from '../formats/chat/completeness.ts'
import { textOf } from '../formats/json/canonical.ts'
import type { TokenUsage } from '../formats/token-usage.ts'
import type { Credentials } from './credentials/credentials.ts'

/**
 * unconnected: nothing was sent. cut: the connection ended before a response began. silent: no response in time. broken: an unusable
 * response. empty: a response with status 200 without an answer in it. reported: an error that the provider reported in such a response.
 * open-circuit: not called, because it kept failing.
 */
export type FailureKind = 'unconnected' | 'cut' | 'silent' | 'broken' | 'empty' | 'reported' | 'open-circuit'

export class UpstreamFailure extends ProxyError {
  readonly kind: FailureKind
  /** The status that the upstream answered with; null when it gave none, or one that was in order. */
  readonly upstreamStatus: number | null
  /** How often the upstream was asked. */
  attempts: number
  /** What the provider reported that it used all the same; null when it reported nothing. */
  usage: TokenUsage | null = null
  /** As an answer's. */
  keys?: readonly string[]
  credentials?: Credentials

  constructor(kind: FailureKind, options: ProxyErrorOptions, upstreamStatus: number | null = null) {
    super(options)
    this.kind = kind
    this.upstreamStatus = upstreamStatus
    this.attempts = kind === 'open-circuit' ? 0 : 1
  }
}

/** 504: no connection was made in time. */
export function unconnectedInTime(provider: string, limitMs: number): UpstreamFailure {
  return new UpstreamFailure(
    'unconnected',
    describeError('upstreamUnconnected', { provider, limitMs: Math.round(limitMs) }),
  )
}

/** 504: the request was sent. `awaited` is the first or the next byte. */
export function silentInTime(provider: string, awaited: string, limitMs: number): UpstreamFailure {
  return new UpstreamFailure(
    'silent',
    describeError('upstreamSilent', { provider, awaited, limitMs: Math.round(limitMs) }),
  )
}

/** 502: a network error before the response began. */
export function unreachable(provider: string, cause: unknown): UpstreamFailure {
  return new UpstreamFailure(
    isUnconnected(cause) ? 'unconnected' : 'cut',
    describeError('upstreamUnreachable', { provider }, cause),
  )
}

/** 502: the response was incomplete or invalid. */
export function broken(provider: string, how: string, status?: number, cause?: unknown): UpstreamFailure {
  const fault = status === undefined ? how : `${how} (status ${status})`
  return new UpstreamFailure('broken', describeError('upstreamBroken', { provider, fault }, cause), status ?? null)
}

const REPORTED: ReadonlySet<Completeness> = new Set<Completeness>([
  'error_in_body',
  'error_in_choice',
  'error_in_stream',
])

/** A failure inside a response with status 200: in the provider's own words and with its status, if it reported one; else a 502. */
export function failedResponse(
  error: Required<Pick<ProxyErrorOptions, 'status' | 'code' | 'message' | 'type'>>,
  completeness: Completeness,
  usage: TokenUsage | null,
): UpstreamFailure {
  const kind = REPORTED.has(completeness) ? 'reported' : 'empty'
  const { status, code, message, type } = error
  return Object.assign(new UpstreamFailure(kind, { status, code, message, type, isInPlaceOfResponse: true }), { usage })
}

/** The failure of a stream before its first part, with what the provider had reported by then. */
export function withUsage(error: unknown, usage: TokenUsage | null): unknown {
  if (error instanceof UpstreamFailure) return Object.assign(error, { usage })
  return error instanceof ProxyError ? failedResponse(error, 'error_in_stream', usage) : error
}

/** Whether another model may answer: an error that the provider reported may concern the request. */
export function isWorthFallback(failure: UpstreamFailure): boolean {
  return failure.kind !== 'reported' || isTemporary(failure.status)
}

/** 502: what came has ended, and holds no response: an error page, an empty body, text that is no JSON. */
export function noResponse(provider: string, fault: string): UpstreamFailure {
  const error = describeError('upstreamBroken', { provider, fault })
  return new UpstreamFailure('empty', { ...error, isInPlaceOfResponse: true })
}

/** 503 that says how long to stay away. */
export function openCircuit(provider: string, waitMs: number): UpstreamFailure {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new UpstreamFailure('open-circuit', describeError('circuitOpen', { provider, seconds }))
}

/** Whether an upstream’s error may be over a moment later: 408, 429, 5xx. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}

/** Error codes of a connection that was never made, or whose TLS was not agreed on. */
const UNCONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPROTO)$|^ERR_TLS_|^UNABLE_TO_|CERT/

function isUnconnected(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && UNCONNECTED.test(textOf(cause.code))
}

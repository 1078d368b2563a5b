/** How an upstream can fail before it answered, told apart by what may be done about it. */
import { describeError, ProxyError, type ProxyErrorOptions } from '../errors.ts'

/**
 * unconnected: nothing was sent. cut: the connection ended before an answer began. silent: no answer in time. broken: an
 * answer that nobody can use. open-circuit: it was not asked, for it has been failing.
 */
export type FailureKind = 'unconnected' | 'cut' | 'silent' | 'broken' | 'open-circuit'

export class UpstreamFailure extends ProxyError {
  readonly kind: FailureKind

  constructor(kind: FailureKind, options: ProxyErrorOptions) {
    super(options)
    this.kind = kind
  }
}

/** 504 where no connection came about. */
export function unconnectedInTime(provider: string, limitMs: number): UpstreamFailure {
  return new UpstreamFailure(
    'unconnected',
    describeError('upstreamUnconnected', { provider, limitMs: Math.round(limitMs) }),
  )
}

/** 504 where the request was sent. `awaited`: the first or the next byte. */
export function silentInTime(provider: string, awaited: string, limitMs: number): UpstreamFailure {
  return new UpstreamFailure(
    'silent',
    describeError('upstreamSilent', { provider, awaited, limitMs: Math.round(limitMs) }),
  )
}

/** 502 for a request that ended in a network error, before its answer began. */
export function unreachable(provider: string, cause: unknown): UpstreamFailure {
  return new UpstreamFailure(
    isUnconnected(cause) ? 'unconnected' : 'cut',
    describeError('upstreamUnreachable', { provider }, cause),
  )
}

/** 502 for an answer that came, but not whole or not as one. */
export function broken(provider: string, how: string, status?: number, cause?: unknown): UpstreamFailure {
  const fault = status === undefined ? how : `${how} (status ${status})`
  return new UpstreamFailure('broken', describeError('upstreamBroken', { provider, fault }, cause))
}

/** 503 that says how long to stay away. */
export function openCircuit(provider: string, waitMs: number): UpstreamFailure {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new UpstreamFailure('open-circuit', describeError('circuitOpen', { provider, seconds }))
}

/** Whether an upstream's own error may be gone a moment later: 408, 429, 5xx. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}

/** Codes of a connection that was never made. */
const UNCONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

function isUnconnected(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && UNCONNECTED.has(String(cause.code))
}

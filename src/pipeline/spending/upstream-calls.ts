/** Tracks the upstream calls of one request: whether each may have cost something, and the usage that it is charged if it fails. */
import { ClientDisconnected, ProxyError } from '../../errors/errors.ts'
import { msSince } from '../../event-loop/clock.ts'
import type { TokenUsage } from '../../formats/token-usage.ts'
import type { RecordDetails } from '../../postgres/usage-record.ts'
import { DROPPED_TOOLS_HEADER } from '../../providers/translations/with-translations.ts'
import type { UpstreamResponse } from '../../providers/upstream.ts'
import { UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { EstimateCallUsage, EstimateReason, ModelUsage } from './call-usage.ts'

/** Whether a call that failed may have cost something. `responseStatus` is null if the provider sent no response headers. */
export function canHaveCost(failure: unknown, responseStatus: number | null): boolean {
  if (failure instanceof ProxyError && failure.replacesResponse) return false
  if (responseStatus !== null) return responseStatus < 400
  // A failure with an upstream status was a redirect or an error.
  if (failure instanceof UpstreamFailure) return failure.upstreamStatus === null && MAY_HAVE_ARRIVED.has(failure.kind)
  if (failure instanceof ClientDisconnected) return failure.mayHaveCost
  // Other ProxyErrors were thrown before anything was sent. An upstream's own error response is not an Error.
  return failure instanceof ProxyError ? failure.status === UNEXPECTED_FAILURE_STATUS : failure instanceof Error
}

/** The status of a call that failed for an unexpected reason. */
const UNEXPECTED_FAILURE_STATUS = 502
const MAY_HAVE_ARRIVED: ReadonlySet<string> = new Set(['cut', 'silent', 'broken'])

/** Returns the reason for which a failed call's usage is estimated. */
export function estimateReasonOf(failure: unknown): EstimateReason {
  if (failure instanceof ClientDisconnected) return 'client_left'
  if (failure instanceof UpstreamFailure) return failure.kind === 'silent' ? 'provider_silent' : 'provider_failed'
  return failure instanceof ProxyError ? 'provider_failed' : 'proxy_stopped'
}

export type ResponseHead = Pick<UpstreamResponse, 'headers' | 'status' | 'headersAtMs'>

interface OpenCall {
  model: string
  estimate: EstimateCallUsage
  /** The response's status; null until its headers arrive. */
  responseStatus: number | null
}

/** The upstream calls of one request: each call's usage, reported or estimated, and the columns of the usage record about them. */
export class UpstreamCalls {
  /** The usage of failed calls, reported or estimated. */
  readonly failedCalls: ModelUsage[] = []
  /** Whether the provider that is set now has been called. */
  isCalled = false
  /** Tools that were omitted from the last upstream request, for the log. */
  droppedTools: string | null = null
  readonly #details: RecordDetails
  #openCall: OpenCall | null = null
  #calledAtMs = 0

  constructor(details: RecordDetails) {
    this.#details = details
  }

  /** Whether reading the open call to its end reveals its cost. Without budgets, a call without a price, or of a free model, costs nothing. */
  isUsageWorthAwaiting(hasBudgets: boolean): boolean {
    const usage = this.#openCall?.estimate('client_left')
    if (usage?.estimate === undefined) return false
    const canCost = usage.isUnpriced !== true && (usage.reportedCostUsd !== 0 || usage.estimate.doubtfulUsd > 0)
    return hasBudgets || canCost
  }

  begin(model: string, estimate: EstimateCallUsage): void {
    this.#openCall = { model, estimate, responseStatus: null }
    this.isCalled = true
    this.#calledAtMs = performance.now()
  }

  recordHead(head: ResponseHead): void {
    if (this.#openCall) this.#openCall.responseStatus = head.status
    if (this.isCalled) this.#details.upstream_ms = msSince(this.#calledAtMs, head.headersAtMs)
    this.droppedTools = head.headers.get(DROPPED_TOOLS_HEADER)
  }

  /** Closes the open call, whose usage is known. */
  recordKnownUsage(): void {
    this.#openCall = null
  }

  /** Closes the open call, which failed before its usage was known. */
  recordFailure(failure: unknown): void {
    const call = this.#openCall
    this.#openCall = null
    if (!call) return
    const usage = failure instanceof UpstreamFailure ? usageOf(failure) : null
    if (usage) this.failedCalls.push({ model: call.model, usage })
    else if (canHaveCost(failure, call.responseStatus))
      this.failedCalls.push({ model: call.model, usage: call.estimate(estimateReasonOf(failure)) })
  }
}

/** Returns the reported or estimated usage. A silent provider may generate on after the proxy has disconnected, so its report is incomplete. */
function usageOf({ kind, usage }: UpstreamFailure): TokenUsage | null {
  return kind === 'silent' && usage && !('estimate' in usage) ? null : usage
}

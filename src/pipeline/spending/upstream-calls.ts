/** The calls of providers for one request: whether each may have cost something, and what it is charged when it fails. */
import { ClientDisconnected, ProxyError } from '../../errors/errors.ts'
import { msSince } from '../../event-loop/clock.ts'
import type { RecordDetails } from '../../postgres/usage-record.ts'
import { PROVIDER_KEY_HEADER } from '../../providers/balance-keys.ts'
import { DROPPED_TOOLS_HEADER } from '../../providers/translations/with-translations.ts'
import type { UpstreamResponse } from '../../providers/upstream.ts'
import { UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { EstimateCallUsage, EstimateReason, ModelUsage } from './call-usage.ts'

/** Whether a call that ended so may have cost something. `answered` is the status with which its provider began to answer; null: not at all. */
export function canHaveCost(failure: unknown, answered: number | null): boolean {
  if (failure instanceof ProxyError && failure.replacesResponse) return false
  if (answered !== null) return answered < 400
  // What it answered was a redirect or an error.
  if (failure instanceof UpstreamFailure) return failure.upstreamStatus === null && MAY_HAVE_ARRIVED.has(failure.kind)
  if (failure instanceof ClientDisconnected) return failure.mayHaveCost
  // Others were raised before anything was sent; an upstream's own error is no Error.
  return failure instanceof ProxyError ? failure.status === BROKEN_STATUS : failure instanceof Error
}

/** Of a call that failed for a reason that nobody foresaw. */
const BROKEN_STATUS = 502
const MAY_HAVE_ARRIVED: ReadonlySet<string> = new Set(['cut', 'silent', 'broken'])

/** Why the usage of a call that ended so is not known. */
export function estimateReasonOf(failure: unknown): EstimateReason {
  if (failure instanceof ClientDisconnected) return 'client_left'
  if (failure instanceof UpstreamFailure) return failure.kind === 'silent' ? 'provider_silent' : 'provider_failed'
  return failure instanceof ProxyError ? 'provider_failed' : 'proxy_stopped'
}

export type ResponseHead = Pick<UpstreamResponse, 'headers' | 'attempts' | 'attemptedKeys' | 'status' | 'headersAtMs'>

interface OpenCall {
  model: string
  estimate: EstimateCallUsage
  /** The status with which its provider began to respond; null: not yet. */
  answered: number | null
}

/** The calls of providers for one request: what each used, or may have used, and what the request's record says of them. */
export class UpstreamCalls {
  /** Of calls that failed: what they reported, else what is estimated. */
  readonly failedCalls: ModelUsage[] = []
  /** Whether the provider that is set now has been called. */
  isCalled = false
  /** The name of the key under which the last response came; null for one that has none. */
  providerKey: string | null = null
  /** Tools that the last request was sent without, for the log. */
  droppedTools: string | null = null
  readonly #details: RecordDetails
  #open: OpenCall | null = null
  #calledAtMs = 0

  constructor(details: RecordDetails) {
    this.#details = details
  }

  /** Whether reading the open call to its end tells what it cost. Without budgets, one without a price costs nothing. */
  isUsageWorthAwaiting(hasBudgets: boolean): boolean {
    const usage = this.#open?.estimate('client_left')
    return usage?.estimate !== undefined && (hasBudgets || usage.isUnpriced !== true)
  }

  begin(model: string, estimate: EstimateCallUsage): void {
    this.#open = { model, estimate, answered: null }
    this.isCalled = true
    this.#calledAtMs = performance.now()
  }

  recordHead(head: ResponseHead): void {
    if (this.#open) this.#open.answered = head.status
    if (this.isCalled) this.#details.upstream_ms = msSince(this.#calledAtMs, head.headersAtMs)
    this.addAttempts(head)
    this.droppedTools = head.headers.get(DROPPED_TOOLS_HEADER)
    this.providerKey = head.headers.get(PROVIDER_KEY_HEADER)
  }

  /** Each key is named once, the last at the end: a batch of embeddings takes many calls. */
  addAttempts({ attempts = 1, attemptedKeys = [] }: Pick<ResponseHead, 'attempts' | 'attemptedKeys'>): void {
    const details = this.#details
    details.attempts = (details.attempts ?? 0) + attempts
    if (attemptedKeys.length === 0) return
    const before = (details.provider_keys?.split(', ') ?? []).filter(key => !attemptedKeys.includes(key))
    details.provider_keys = [...new Set([...before, ...attemptedKeys])].join(', ')
  }

  /** Its usage is known. */
  recordKnownUsage(): void {
    this.#open = null
  }

  /** It failed before its usage was known. */
  recordFailure(failure: unknown): void {
    const call = this.#open
    this.#open = null
    if (!call) return
    // One that is silent may go on after this process has hung up.
    const reported = failure instanceof UpstreamFailure && failure.kind !== 'silent' ? failure.usage : null
    if (reported) this.failedCalls.push({ model: call.model, usage: reported })
    else if (canHaveCost(failure, call.answered))
      this.failedCalls.push({ model: call.model, usage: call.estimate(estimateReasonOf(failure)) })
  }
}

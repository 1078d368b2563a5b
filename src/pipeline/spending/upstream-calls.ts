/** The calls of providers for one request: whether each may have cost something, and what it is charged when it fails. */
import { ClientGone, ProxyError } from '../../errors/errors.ts'
import { UpstreamFailure } from '../../providers/upstream-failure.ts'
import type { EstimateCall, EstimateReason, Spent } from './spent-usage.ts'

/** Whether a call that ended so may have cost something. `answered` is the status with which its provider began to answer; null: not at all. */
export function mayHaveCost(failure: unknown, answered: number | null): boolean {
  if (failure instanceof ProxyError && failure.isInPlaceOfResponse) return false
  if (answered !== null) return answered < 400
  // What it answered was a redirect or an error.
  if (failure instanceof UpstreamFailure) return failure.upstreamStatus === null && MAY_HAVE_ARRIVED.has(failure.kind)
  if (failure instanceof ClientGone) return failure.mayHaveCost
  // Others were raised before anything was sent; an upstream's own error is no Error.
  return failure instanceof ProxyError ? failure.status === BROKEN_STATUS : failure instanceof Error
}

/** Of a call that failed for a reason that nobody foresaw. */
const BROKEN_STATUS = 502
const MAY_HAVE_ARRIVED: ReadonlySet<string> = new Set(['cut', 'silent', 'broken'])

/** Why the usage of a call that ended so is not known. */
export function reasonOf(failure: unknown): EstimateReason {
  if (failure instanceof ClientGone) return 'client_left'
  if (failure instanceof UpstreamFailure) return failure.kind === 'silent' ? 'provider_silent' : 'provider_failed'
  return failure instanceof ProxyError ? 'provider_failed' : 'proxy_stopped'
}

interface OpenCall {
  model: string
  estimate: EstimateCall
  /** The status with which its provider began to respond; null: not yet. */
  answered: number | null
}

/** The calls of providers for one request: what each used, or may have used. */
export class UpstreamCalls {
  /** Of calls that failed: what they reported, else what is estimated. */
  readonly failed: Spent[] = []
  #open: OpenCall | null = null

  /** Whether reading the open call to its end tells what it cost. Without budgets, one without a price costs nothing. */
  isWorthReading(hasBudgets: boolean): boolean {
    const usage = this.#open?.estimate('client_left')
    return usage?.estimate !== undefined && (hasBudgets || usage.isUnpriced !== true)
  }

  begin(model: string, estimate: EstimateCall): void {
    this.#open = { model, estimate, answered: null }
  }

  noteAnswered(status: number): void {
    if (this.#open) this.#open.answered = status
  }

  /** Its usage is known. */
  end(): void {
    this.#open = null
  }

  /** It failed before its usage was known. */
  fail(failure: unknown): void {
    const call = this.#open
    this.#open = null
    if (!call) return
    // One that is silent may go on after this process has hung up.
    const reported = failure instanceof UpstreamFailure && failure.kind !== 'silent' ? failure.usage : null
    if (reported) this.failed.push({ model: call.model, usage: reported })
    else if (mayHaveCost(failure, call.answered))
      this.failed.push({ model: call.model, usage: call.estimate(reasonOf(failure)) })
  }
}

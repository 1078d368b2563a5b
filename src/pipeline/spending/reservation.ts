/**
 * Reserves a request's cost and tokens, if its project has budgets or its key a limit of tokens per minute. They are reserved before a
 * provider is called, and settled by the usage record.
 */

import type { RemainingSpending } from '../../admission/admission.ts'
import type { Budgets, CostBound } from '../../admission/budgets.ts'
import type { TokenRateLimiter, TokenReservation } from '../../admission/token-rate-limiter.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'
import { addCostBounds } from './max-cost.ts'

export interface SpendingLimits {
  budgets: Pick<Budgets, 'reserve' | 'stopRenewing' | 'release'>
  tokenWindows: Pick<TokenRateLimiter, 'reserve' | 'remaining' | 'settle'>
}

export class RequestSpending {
  /** US dollars that remain of the narrowest budget after the last reservation; null without one. */
  remainingUsd: number | null = null
  /** The endpoint and tags of the reservations. `tags` is a JSON object; null for none. */
  query: { endpoint: string; tags: string | null } = { endpoint: '', tags: null }
  readonly #limits: SpendingLimits
  readonly #resolvedKey: ResolvedKey
  readonly #requestId: string
  readonly #tokenReservations: TokenReservation[] = []
  /** The sum of the reservations in budgets; null if there is none. */
  reserved: CostBound | null = null
  /** The id of the reservation in budgets. */
  #id: string | null = null
  #reservedAheadFor: string | null = null
  #isFinished = false

  constructor(limits: SpendingLimits, resolvedKey: ResolvedKey, requestId: string) {
    this.#limits = limits
    this.#resolvedKey = resolvedKey
    this.#requestId = requestId
  }

  get hasBudgets(): boolean {
    return this.#resolvedKey.has_budgets
  }

  /**
   * Reserves the upper bound of a call of the model; null means that the call is free. Throws 400, 429 or 503, with nothing reserved. With
   * a signal, it waits for money that other requests have reserved, and throws ClientDisconnected when the signal is aborted.
   */
  async reserve(model: string, bound: CostBound | null, signal?: AbortSignal): Promise<void> {
    if (bound === null) return
    await this.#reserveTokens(bound.tokens)
    if (model !== this.#reservedAheadFor) await this.reserveMoney(model, bound, signal)
  }

  /** Reserves what is added to a call whose upper bound is reserved. Throws as `reserve` does. */
  async reserveAddition(model: string, bound: CostBound, signal: AbortSignal): Promise<void> {
    await this.#reserveTokens(bound.tokens)
    await this.reserveMoney(model, bound, signal)
  }

  /** Reserves money alone, for a batch: tokens per minute do not limit it. */
  async reserveMoney(model: string, bound: CostBound | null, signal?: AbortSignal): Promise<void> {
    if (bound === null || !this.hasBudgets) return
    const { project_id, key_id } = this.#resolvedKey
    const id = this.#id ?? crypto.randomUUID()
    const request = { id, project_id, key_id, request_id: this.#requestId, model, ...this.query, ...bound }
    this.remainingUsd = await this.#limits.budgets.reserve(request, signal)
    this.#id = id
    this.reserved = this.reserved ? addCostBounds(this.reserved, bound) : bound
    if (this.#isFinished) this.#limits.budgets.release(id)
  }

  /** Reserves money early. A later `reserve` for this model then reserves tokens alone. */
  async reserveAhead(model: string, bound: CostBound | null): Promise<void> {
    await this.reserveMoney(model, bound)
    this.#reservedAheadFor = model
  }

  async #reserveTokens(tokens: number | null): Promise<void> {
    const { project_id, key_id, tokens_per_minute } = this.#resolvedKey
    if (tokens_per_minute === null) return
    const reservation = await this.#limits.tokenWindows.reserve({ project_id, key_id, tokens_per_minute }, tokens)
    if (this.#isFinished) this.#limits.tokenWindows.settle([reservation], 0)
    else this.#tokenReservations.push(reservation)
  }

  /** Returns the remaining money and tokens, for response headers. */
  async readRemaining(): Promise<RemainingSpending> {
    const { remainingUsd } = this
    const { project_id, key_id, tokens_per_minute } = this.#resolvedKey
    if (tokens_per_minute === null) return { remainingUsd, tokens: null }
    const remaining =
      this.#tokenReservations.at(-1)?.remaining ??
      (await this.#limits.tokenWindows.remaining({ project_id, key_id, tokens_per_minute }))
    return { remainingUsd, tokens: { limit: tokens_per_minute, remaining } }
  }

  /** Adopts an earlier reservation, by its id. */
  adoptReservation(id: string): void {
    this.#id = id
  }

  /** Leaves the reservation to a later record, and returns its id; null if there is none. */
  detachReservation(): string | null {
    const id = this.#id
    this.#id = null
    if (id !== null) this.#limits.budgets.stopRenewing(id)
    return id
  }

  /** Finishes the request, which used as many tokens. Returns the id of the reservation that its record must settle; null for none. */
  settle(used: number): string | null {
    if (!this.#isFinished) this.#limits.tokenWindows.settle(this.#tokenReservations, used)
    this.#isFinished = true
    return this.detachReservation()
  }

  /** Finishes a request that cost nothing and is not recorded. */
  release(): void {
    const id = this.#id
    this.#id = null
    this.settle(0)
    if (id !== null) this.#limits.budgets.release(id)
  }
}

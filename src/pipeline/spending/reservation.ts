/**
 * What one request may cost and take, where its project has budgets or its key a limit of tokens a minute: reserved before its provider is
 * asked, settled by its record.
 */

import type { RemainingSpending } from '../../admission/admission.ts'
import type { Budgets, CostBound } from '../../admission/budgets.ts'
import type { TokenRateLimiter, TokenReservation } from '../../admission/token-rate-limiter.ts'
import type { ResolvedKey } from '../../postgres/admit-requests.ts'

export interface SpendingLimits {
  budgets: Pick<Budgets, 'reserve' | 'stopRenewing' | 'release'>
  tokenWindows: Pick<TokenRateLimiter, 'reserve' | 'remaining' | 'settle'>
}

export class RequestSpending {
  /** Left of the narrowest budget in US dollars, as of the last reservation; null when there is none. */
  remainingUsd: number | null = null
  /** What its reservations are for. `tags`: JSON; null for none. */
  query: { endpoint: string; tags: string | null } = { endpoint: '', tags: null }
  readonly #limits: SpendingLimits
  readonly #resolvedKey: ResolvedKey
  readonly #requestId: string
  readonly #taken: TokenReservation[] = []
  /** All that is reserved for it in budgets; null where nothing is. */
  reserved: { usd: number | null; tokens: number | null } | null = null
  /** Under which all is reserved. */
  #id: string | null = null
  #reservedAheadFor: string | null = null
  #isOver = false

  constructor(limits: SpendingLimits, resolvedKey: ResolvedKey, requestId: string) {
    this.#limits = limits
    this.#resolvedKey = resolvedKey
    this.#requestId = requestId
  }

  get hasBudgets(): boolean {
    return this.#resolvedKey.has_budgets
  }

  /**
   * Reserves the most that asking the model may cost and take; null: it is free. Throws 400, 429 or 503, with nothing reserved. With a signal, it
   * waits for money that other requests have reserved, and throws ClientDisconnected once that is aborted.
   */
  async reserve(model: string, largest: CostBound | null, signal?: AbortSignal): Promise<void> {
    if (largest === null) return
    await this.#takeTokens(largest.tokens)
    if (model !== this.#reservedAheadFor) await this.reserveMoney(model, largest, signal)
  }

  /** The same without tokens, for a batch: a provider answers it in its own time. */
  async reserveMoney(model: string, largest: CostBound | null, signal?: AbortSignal): Promise<void> {
    if (largest === null || !this.hasBudgets) return
    const { project_id, key_id } = this.#resolvedKey
    const id = this.#id ?? crypto.randomUUID()
    const ask = { id, project_id, key_id, request_id: this.#requestId, model, ...this.query, ...largest }
    this.remainingUsd = await this.#limits.budgets.reserve(ask, signal)
    this.#id = id
    const { usd, tokens } = this.reserved ?? { usd: 0, tokens: 0 }
    this.reserved = {
      usd: usd === null || largest.usd === null ? null : usd + largest.usd,
      tokens: tokens === null || largest.tokens === null ? null : tokens + largest.tokens,
    }
    if (this.#isOver) this.#limits.budgets.release(id)
  }

  /** The same before the provider is to be called: then the model's money is not reserved again. */
  async reserveAhead(model: string, largest: CostBound | null): Promise<void> {
    await this.reserveMoney(model, largest)
    this.#reservedAheadFor = model
  }

  async #takeTokens(tokens: number | null): Promise<void> {
    const { project_id, key_id, tokens_per_minute } = this.#resolvedKey
    if (tokens_per_minute === null) return
    const taken = await this.#limits.tokenWindows.reserve({ project_id, key_id, tokens_per_minute }, tokens)
    if (this.#isOver) this.#limits.tokenWindows.settle([taken], 0)
    else this.#taken.push(taken)
  }

  /** What is left, for the answer to tell. */
  async readRemaining(): Promise<RemainingSpending> {
    const { remainingUsd } = this
    const { project_id, key_id, tokens_per_minute } = this.#resolvedKey
    if (tokens_per_minute === null) return { remainingUsd, tokens: null }
    const remaining =
      this.#taken.at(-1)?.remaining ??
      (await this.#limits.tokenWindows.remaining({ project_id, key_id, tokens_per_minute }))
    return { remainingUsd, tokens: { limit: tokens_per_minute, remaining } }
  }

  /** Takes over what was reserved under this id before. */
  adoptReservation(id: string): void {
    this.#id = id
  }

  /** Leaves what was reserved to a later record, and returns its id; null when there is none. */
  detachReservation(): string | null {
    const id = this.#id
    this.#id = null
    if (id !== null) this.#limits.budgets.stopRenewing(id)
    return id
  }

  /** The request is over, and used so many tokens. Returns what its record must settle; null for nothing. */
  settle(used: number): string | null {
    if (!this.#isOver) this.#limits.tokenWindows.settle(this.#taken, used)
    this.#isOver = true
    return this.detachReservation()
  }

  /** The request is over, has cost nothing, and is not recorded. */
  release(): void {
    const id = this.#id
    this.#id = null
    this.settle(0)
    if (id !== null) this.#limits.budgets.release(id)
  }
}

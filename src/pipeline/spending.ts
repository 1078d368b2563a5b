/** The money of one request in a project with budgets: reserved before its provider is asked, settled by its record. */
import type { Budgets, Largest } from '../admission/budgets.ts'
import type { Account } from '../postgres/admit.ts'

export class Spending {
  /** Left of the narrowest budget in US dollars, as of the last reservation; null when there is none. */
  remainingUsd: number | null = null
  /** JSON; null for none. */
  tags: string | null = null
  readonly #budgets: Pick<Budgets, 'reserve' | 'close' | 'release'>
  readonly #account: Account
  /** Under which all is reserved. */
  #id: string | null = null
  #reservedAheadFor: string | null = null
  #isOver = false

  constructor(budgets: Pick<Budgets, 'reserve' | 'close' | 'release'>, account: Account) {
    this.#budgets = budgets
    this.#account = account
  }

  /** Reserves the most that asking the model may cost; null: it is free. Throws 400, 429 or 503, with nothing reserved. */
  async reserve(model: string, largest: Largest | null): Promise<void> {
    if (largest === null || model === this.#reservedAheadFor) return
    const { project_id, key_id } = this.#account
    const id = this.#id ?? crypto.randomUUID()
    this.remainingUsd = await this.#budgets.reserve({ id, project_id, key_id, model, tags: this.tags, ...largest })
    this.#id = id
    if (this.#isOver) this.#budgets.release(id)
  }

  /** The same before the cache is asked: the model then reserves no more. */
  async reserveAhead(model: string, largest: Largest | null): Promise<void> {
    await this.reserve(model, largest)
    this.#reservedAheadFor = model
  }

  /** Takes over what was reserved under this id before. */
  take(id: string): void {
    this.#id = id
  }

  /** Leaves what was reserved to a later record, and returns its id; null when there is none. */
  leave(): string | null {
    const id = this.#id
    this.#id = null
    if (id !== null) this.#budgets.close(id)
    return id
  }

  /** The request is over. Returns what its record must settle; null for nothing. */
  end(): string | null {
    this.#isOver = true
    return this.leave()
  }

  /** The request is over, has cost nothing, and is not recorded. */
  release(): void {
    const id = this.end()
    if (id !== null) this.#budgets.release(id)
  }
}

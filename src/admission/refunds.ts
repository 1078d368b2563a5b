/** Refunds of reserved requests: they wait for one another, travel together, and are sent until the database has taken them. */
import type { Account } from '../postgres/admit.ts'
import { type Database, isLockedOut } from '../postgres/database.ts'
import { type Refund, refundRequests } from '../postgres/refund-requests.ts'

const RETRY_MS = 250

/** Whose month a request is given back to. */
export type RefundedAccount = Pick<Account, 'project_id' | 'key_type' | 'month'>

export class Refunds {
  readonly #database: Database
  /** By the counter they go back to. */
  readonly #waiting = new Map<string, Refund>()
  #sending: Promise<void> | null = null

  constructor(database: Database) {
    this.#database = database
  }

  add({ project_id, key_type, month }: RefundedAccount, requests: number): void {
    const name = `${project_id} ${key_type} ${month}`
    const waiting = this.#waiting.get(name)
    if (waiting) waiting.requests += requests
    else this.#waiting.set(name, { projectId: project_id, keyType: key_type, month, requests })
    this.#sending ??= Promise.resolve().then(() => this.#sendAll())
  }

  /** Resolves when the database has all that has been added. */
  async settled(): Promise<void> {
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const refunds = [...this.#waiting.values()]
      this.#waiting.clear()
      await this.#sendUntilTaken(refunds)
    }
    this.#sending = null
  }

  /**
   * Each batch until the database has taken it, under one name: what it has taken already, it does not take again. Where one
   * project's counter is held by somebody, the refunds of others do not wait for it.
   */
  async #sendUntilTaken(refunds: readonly Refund[]): Promise<void> {
    for (const batch = crypto.randomUUID(); ; await Bun.sleep(RETRY_MS)) {
      const failed = await refundRequests(this.#database, refunds, batch).then(
        () => null,
        reason => ({ reason }),
      )
      if (!failed) return
      if (!isLockedOut(failed.reason) || refunds.length === 1) continue
      await Promise.all(refunds.map(one => this.#sendUntilTaken([one])))
      return
    }
  }
}

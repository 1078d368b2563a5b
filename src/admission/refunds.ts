/** Refunds reserved requests in batches, and retries each batch until the database has taken it. */
import type { Account } from '../postgres/admit.ts'
import { type Database, isLockedOut } from '../postgres/database.ts'
import { type Refund, refundRequests } from '../postgres/refund-requests.ts'

const RETRY_MS = 250

/** The account fields that identify a month's counter. */
export type RefundedAccount = Pick<Account, 'project_id' | 'key_type' | 'month'>

export class Refunds {
  readonly #database: Database
  /** By the counter that is refunded. */
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

  /** Resolves when the database has taken every refund added so far. */
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
   * Retries a batch under one id: what the database has applied already, it does not apply again. If another transaction locks one
   * project's counter, other refunds do not wait for it.
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

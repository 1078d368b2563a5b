/** Sends reservations and refunds so that each counts once: one whose reply was lost is sent again, under the same id, until it is known. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import {
  type Account,
  type AdmitAsk,
  type AdmitBatch,
  type AdmitReply,
  admit,
  type Refund,
  refundRequests,
} from '../postgres/admit.ts'
import { AnswerLost, type Database, isLockedOut } from '../postgres/database.ts'

const RETRY_MS = 250

/** The account fields that identify a month's counter. */
export type RefundedAccount = Pick<Account, 'project_id' | 'key_type' | 'month'>

export interface QuotaLedger {
  /** Rejects with AnswerLost when it is unknown what was reserved. Whatever was reserved is given back later. */
  reserve(asks: readonly AdmitAsk[]): Promise<AdmitReply[]>
  /** Refunds are sent in batches, and each batch is retried until the database has taken it. */
  refund(account: RefundedAccount, requests: number): void
  /** Resolves when no reservation is in doubt any more, and the database has taken every refund. */
  settled(): Promise<void>
}

export function createQuotaLedger(database: Database): QuotaLedger {
  const refunds = new Refunds(database)
  /** Slots that no batch uses now: a slot has at most one batch in flight. */
  const free: AdmitBatch[] = []
  const settling = new BackgroundWork()

  /** Retries the same batch until it is answered. admit() recognizes the batch, so it is counted exactly once. */
  async function settle(asks: readonly AdmitAsk[], batch: AdmitBatch): Promise<void> {
    for (;;) {
      await Bun.sleep(RETRY_MS)
      const replies = await admit(database, asks, batch).catch(() => null)
      if (!replies) continue
      for (const { account, granted } of replies)
        if (account.verdict !== 'unknown' && granted > 0) refunds.add(account, granted)
      free.push(batch)
      return
    }
  }

  return {
    async reserve(asks) {
      if (asks.every(ask => ask.wanted === 0)) return admit(database, asks)
      const batch = free.pop() ?? { slot: crypto.randomUUID(), sequence: 0 }
      batch.sequence++
      try {
        const replies = await admit(database, asks, batch)
        free.push(batch)
        return replies
      } catch (error) {
        if (error instanceof AnswerLost) void settling.add(settle(asks, batch))
        // The server refused the batch, or never received it: its slot can be used again.
        else free.push(batch)
        throw error
      }
    },
    refund: (account, requests) => refunds.add(account, requests),
    async settled() {
      await settling.settled()
      await refunds.settled()
    },
  }
}

class Refunds {
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

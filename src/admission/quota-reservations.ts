/** Sends reservations and refunds so that each counts once: one whose reply was lost is sent again, under the same id, until it is known. */
import { BackgroundWork } from '../event-loop/background-work.ts'
import {
  type AdmissionBatch,
  type AdmissionReply,
  type AdmissionRequest,
  admitRequests,
  type QuotaRefund,
  type ResolvedKey,
  refundRequests,
} from '../postgres/admit-requests.ts'
import { type Database, isLockTimeout, ReplyLost } from '../postgres/database.ts'

const RETRY_MS = 250

/** The account fields that identify a month's counter. */
export type MonthlyCounterKey = Pick<ResolvedKey, 'project_id' | 'key_type' | 'month'>

export interface QuotaLedger {
  /** `patienceMs`: how long to wait for a locked counter. Rejects with ReplyLost when it is unknown what was reserved. Whatever was reserved is given back later. */
  reserve(asks: readonly AdmissionRequest[], patienceMs?: number): Promise<AdmissionReply[]>
  /** Refunds are sent in batches, and each batch is retried until the database has taken it. */
  refund(account: MonthlyCounterKey, requests: number): void
  /** Resolves when no reservation is in doubt any more, and the database has taken every refund. */
  settled(): Promise<void>
}

export function createQuotaLedger(database: Database): QuotaLedger {
  const refunds = new Refunds(database)
  const slots = createReservationSlots()

  function giveBack(replies: readonly AdmissionReply[]): void {
    for (const { resolvedKey, granted } of replies)
      if (resolvedKey.verdict !== 'unknown' && granted > 0) refunds.add(resolvedKey, granted)
  }

  return {
    reserve(asks, patienceMs) {
      if (asks.every(ask => ask.requests === 0)) return admitRequests(database, asks, null, patienceMs)
      return slots.use(batch => admitRequests(database, asks, batch, patienceMs), giveBack)
    },
    refund: (account, requests) => refunds.add(account, requests),
    async settled() {
      await slots.settled()
      await refunds.settled()
    },
  }
}

class Refunds {
  readonly #database: Database
  /** By the counter that is refunded. */
  readonly #waiting = new Map<string, QuotaRefund>()
  #sending: Promise<void> | null = null

  constructor(database: Database) {
    this.#database = database
  }

  add({ project_id, key_type, month }: MonthlyCounterKey, requests: number): void {
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
  async #sendUntilTaken(refunds: readonly QuotaRefund[]): Promise<void> {
    for (const batch = crypto.randomUUID(); ; await Bun.sleep(RETRY_MS)) {
      const failed = await refundRequests(this.#database, refunds, batch).then(
        () => null,
        reason => ({ reason }),
      )
      if (!failed) return
      if (!isLockTimeout(failed.reason) || refunds.length === 1) continue
      await Promise.all(refunds.map(one => this.#sendUntilTaken([one])))
      return
    }
  }
}

/** Sends each batch under a slot and a number, so that one whose reply was lost can be sent again until it is known. */
export interface ReservationSlots {
  /**
   * `send` must reserve once however often the same batch is sent. Rejects with ReplyLost when it is unknown what was reserved;
   * `giveBack` is called when it is known.
   */
  use<Reply>(send: (batch: AdmissionBatch) => Promise<Reply>, giveBack: (reply: Reply) => void): Promise<Reply>
  /** Resolves when no reservation is in doubt any more. */
  settled(): Promise<void>
}

export function createReservationSlots(): ReservationSlots {
  /** Slots that no batch uses now: a slot has at most one batch in flight. */
  const free: AdmissionBatch[] = []
  const settling = new BackgroundWork()

  /** Retries the same batch until it is answered. */
  async function settle<Reply>(
    batch: AdmissionBatch,
    send: (batch: AdmissionBatch) => Promise<Reply>,
    giveBack: (reply: Reply) => void,
  ): Promise<void> {
    for (;;) {
      await Bun.sleep(RETRY_MS)
      const found = await send(batch).then(
        reply => ({ reply }),
        () => null,
      )
      if (!found) continue
      giveBack(found.reply)
      free.push(batch)
      return
    }
  }

  return {
    async use(send, giveBack) {
      const batch = free.pop() ?? { slot: crypto.randomUUID(), sequence: 0 }
      batch.sequence++
      try {
        const reply = await send(batch)
        free.push(batch)
        return reply
      } catch (error) {
        if (error instanceof ReplyLost) void settling.add(settle(batch, send, giveBack))
        // The server refused the batch, or never received it: its slot can be used again.
        else free.push(batch)
        throw error
      }
    },
    settled: () => settling.settled(),
  }
}

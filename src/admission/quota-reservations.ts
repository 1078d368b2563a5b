/** Sends reservations and refunds so that each counts once. One whose reply was lost is sent again under the same id until it is answered. */
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

/** The fields that identify a monthly counter. */
export type MonthlyCounterKey = Pick<ResolvedKey, 'project_id' | 'key_type' | 'month'>

export interface QuotaLedger {
  /**
   * Waits up to `maxWaitMs` for a locked counter. Rejects with ReplyLost when it is unknown whether the requests were reserved; what was
   * reserved is refunded later.
   */
  reserve(requests: readonly AdmissionRequest[], maxWaitMs?: number): Promise<AdmissionReply[]>
  /** Adds a refund to the next batch. Each batch is retried until the database confirms it. */
  refund(counter: MonthlyCounterKey, requests: number): void
  /** Resolves when the result of every reservation is known and every refund is confirmed. */
  settled(): Promise<void>
}

export function createQuotaLedger(database: Database): QuotaLedger {
  const refunds = new RefundQueue(database)
  const slots = createReservationSlots()

  function refundGranted(replies: readonly AdmissionReply[]): void {
    for (const { resolvedKey, granted } of replies)
      if (resolvedKey.verdict !== 'unknown' && granted > 0) refunds.add(resolvedKey, granted)
  }

  return {
    reserve(requests, maxWaitMs) {
      if (requests.every(request => request.requests === 0)) return admitRequests(database, requests, null, maxWaitMs)
      return slots.use(batch => admitRequests(database, requests, batch, maxWaitMs), refundGranted)
    },
    refund: (counter, requests) => refunds.add(counter, requests),
    async settled() {
      await slots.settled()
      await refunds.settled()
    },
  }
}

class RefundQueue {
  readonly #database: Database
  /** Waiting refunds by project, key type and month. */
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
      await this.#sendUntilConfirmed(refunds)
    }
    this.#sending = null
  }

  /**
   * Retries a batch under one id, so that the database applies it once. If another transaction locks one project's counter, the other
   * refunds do not wait for it.
   */
  async #sendUntilConfirmed(refunds: readonly QuotaRefund[]): Promise<void> {
    for (const batch = crypto.randomUUID(); ; await Bun.sleep(RETRY_MS)) {
      const failed = await refundRequests(this.#database, refunds, batch).then(
        () => null,
        reason => ({ reason }),
      )
      if (!failed) return
      if (!isLockTimeout(failed.reason) || refunds.length === 1) continue
      await Promise.all(refunds.map(one => this.#sendUntilConfirmed([one])))
      return
    }
  }
}

/** Sends each batch under a slot and a sequence number, so that a batch whose reply was lost can be sent again until it is answered. */
export interface ReservationSlots {
  /**
   * `send` must be idempotent for the same batch. Rejects with ReplyLost when it is unknown what was reserved; `refund` is called later,
   * with the reply.
   */
  use<Reply>(send: (batch: AdmissionBatch) => Promise<Reply>, refund: (reply: Reply) => void): Promise<Reply>
  /** Resolves when the result of every reservation is known. */
  settled(): Promise<void>
}

export function createReservationSlots(): ReservationSlots {
  /** Slots without a batch in flight. A slot has at most one. */
  const free: AdmissionBatch[] = []
  const settling = new BackgroundWork()

  /** Sends the same batch again until it is answered, then refunds it. */
  async function refundLostBatch<Reply>(
    batch: AdmissionBatch,
    send: (batch: AdmissionBatch) => Promise<Reply>,
    refund: (reply: Reply) => void,
  ): Promise<void> {
    for (;;) {
      await Bun.sleep(RETRY_MS)
      const found = await send(batch).then(
        reply => ({ reply }),
        () => null,
      )
      if (!found) continue
      refund(found.reply)
      free.push(batch)
      return
    }
  }

  return {
    async use(send, refund) {
      const batch = free.pop() ?? { slot: crypto.randomUUID(), sequence: 0 }
      batch.sequence++
      try {
        const reply = await send(batch)
        free.push(batch)
        return reply
      } catch (error) {
        if (error instanceof ReplyLost) void settling.add(refundLostBatch(batch, send, refund))
        // The server rejected the batch or did not receive it, so its slot can be used again.
        else free.push(batch)
        throw error
      }
    },
    settled: () => settling.settled(),
  }
}

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

  function refund({ project_id, key_type, month }: MonthlyCounterKey, requests: number): void {
    refunds.add({ projectId: project_id, keyType: key_type, month, requests })
  }

  function refundGranted(replies: readonly AdmissionReply[]): void {
    for (const { resolvedKey, granted } of replies)
      if (resolvedKey.verdict !== 'unknown' && granted > 0) refund(resolvedKey, granted)
  }

  return {
    reserve(requests, maxWaitMs) {
      if (requests.every(request => request.requests === 0)) return admitRequests(database, requests, null, maxWaitMs)
      return slots.use(batch => admitRequests(database, requests, batch, maxWaitMs), refundGranted)
    },
    refund,
    async settled() {
      await slots.settled()
      await refunds.settled()
    },
  }
}

/** Sends refunds in batches, one after the other. A counter that another transaction locks gets a queue of its own, which the others do not wait for. */
class RefundQueue {
  readonly #database: Database
  /** Called when nothing is left to send; null for the queue of all counters. */
  readonly #onEmpty: (() => void) | null
  /** Waiting refunds by project, key type and month. */
  readonly #waiting = new Map<string, QuotaRefund>()
  /** The queues of locked counters, by the same names. */
  readonly #locked = new Map<string, RefundQueue>()
  #sending: Promise<void> | null = null

  constructor(database: Database, onEmpty: (() => void) | null = null) {
    this.#database = database
    this.#onEmpty = onEmpty
  }

  add(refund: QuotaRefund): void {
    const name = `${refund.projectId} ${refund.keyType} ${refund.month}`
    const locked = this.#locked.get(name)
    const waiting = this.#waiting.get(name)
    if (locked) locked.add(refund)
    else if (waiting) waiting.requests += refund.requests
    else this.#waiting.set(name, { ...refund })
    this.#sending ??= Promise.resolve().then(() => this.#sendAll())
  }

  async settled(): Promise<void> {
    await this.#sending
    await Promise.all(this.#locked.values().map(queue => queue.settled()))
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const refunds = [...this.#waiting]
      this.#waiting.clear()
      await this.#sendUntilConfirmed(refunds)
    }
    this.#sending = null
    this.#onEmpty?.()
  }

  /** Retries a batch under one id, so that the database applies it once. One that may have been applied is not divided. */
  async #sendUntilConfirmed(refunds: readonly (readonly [name: string, refund: QuotaRefund])[]): Promise<void> {
    const all = refunds.map(([, refund]) => refund)
    let mayBeApplied = false
    for (const batch = crypto.randomUUID(); ; await Bun.sleep(RETRY_MS)) {
      const failed = await refundRequests(this.#database, all, batch).then(
        () => null,
        reason => ({ reason }),
      )
      if (!failed) return
      mayBeApplied ||= !isLockTimeout(failed.reason)
      if (mayBeApplied || this.#onEmpty !== null) continue
      for (const [name, refund] of refunds) this.#sendApart(name, refund)
      return
    }
  }

  #sendApart(name: string, refund: QuotaRefund): void {
    const queue = this.#locked.get(name) ?? new RefundQueue(this.#database, () => this.#locked.delete(name))
    this.#locked.set(name, queue)
    queue.add(refund)
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

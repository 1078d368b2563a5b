/** Queues usage records until they are written. A batch is retried unchanged until it is written. The queue's length is limited. */
import type { UsageRecord } from '../postgres/usage-record.ts'

export const MAX_BATCH_RECORDS = 1_000
/** The records of about a minute of a busy proxy. When the database is unavailable for longer, records are dropped to limit the memory. */
const MAX_WAITING = 500_000

export interface UsageBatch {
  records: UsageRecord[]
  /** A UUID. The database accepts a batch with this key once. */
  idempotencyKey: string
}

/** The usage records that were lost. */
export interface DroppedUsage {
  records: number
  /** The cost of their requests. */
  usd: number
}

export class UsageQueue {
  readonly #maxWaiting: number
  #waiting: UsageRecord[] = []
  /** The batch that was sent, and may have been written. It is retried unchanged, with its key, before any other batch. */
  #inDoubt: UsageBatch | null = null
  #batchSize = MAX_BATCH_RECORDS
  readonly #dropped: DroppedUsage = { records: 0, usd: 0 }

  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting
  }

  /** The number of records that have not been sent. */
  get waiting(): number {
    return this.#waiting.length
  }

  get unwritten(): number {
    return this.#waiting.length + (this.#inDoubt?.records.length ?? 0)
  }

  get hasFullBatch(): boolean {
    return this.#waiting.length >= this.#batchSize
  }

  /** The records lost so far: the queue was full, the database rejected them, or the process stopped first. */
  get dropped(): Readonly<DroppedUsage> {
    return this.#dropped
  }

  /** Adds a record. Returns the oldest records that were dropped because the queue was full; usually none. */
  add(usage: UsageRecord): readonly UsageRecord[] {
    this.#waiting.push(usage)
    const excess = this.#waiting.length - this.#maxWaiting
    return excess > 0 ? this.#drop(this.#waiting.splice(0, excess)) : []
  }

  /** Drops all records that are not written, and returns them. */
  dropAll(): readonly UsageRecord[] {
    const unwritten = [...(this.#inDoubt?.records ?? []), ...this.#waiting]
    this.#inDoubt = null
    this.#waiting = []
    return this.#drop(unwritten)
  }

  #drop(records: readonly UsageRecord[]): readonly UsageRecord[] {
    this.#dropped.records += records.length
    this.#dropped.usd += sumCostUsd(records)
    return records
  }

  /** Returns the batch to send. It returns the same batch until `markWritten` or `splitBatch` is called. */
  nextBatch(): UsageBatch {
    this.#inDoubt ??= { records: this.#waiting.splice(0, this.#batchSize), idempotencyKey: crypto.randomUUID() }
    return this.#inDoubt
  }

  markWritten(): void {
    this.#inDoubt = null
    this.#batchSize = Math.min(MAX_BATCH_RECORDS, this.#batchSize * 2)
  }

  /**
   * Call it when the database rejected the batch. It halves the batch size until the invalid record is alone, so that it does not block the
   * others. Returns that record, which is then dropped; undefined until it is found.
   */
  splitBatch(): UsageRecord | undefined {
    const records = this.#inDoubt?.records ?? []
    this.#inDoubt = null
    if (records.length > 1) {
      this.#waiting = records.concat(this.#waiting)
      this.#batchSize = Math.ceil(records.length / 2)
      return undefined
    }
    return this.#drop(records)[0]
  }
}

/** Returns the cost of these records' requests, in US dollars. */
export function sumCostUsd(records: readonly UsageRecord[]): number {
  return records.reduce((sum, { cost_usd }) => sum + (Number.isFinite(cost_usd) ? cost_usd : 0), 0)
}

/** Usage records that wait to be written: in batches, each retried unchanged until it is written, and within a bound of memory. */
import type { UsageRecord } from '../postgres/usage-record.ts'

export const MAX_BATCH_RECORDS = 1_000
/** About a minute of a busy proxy. If the database is away for longer, records are dropped, so that memory stays bounded. */
const MAX_WAITING = 500_000

export interface UsageBatch {
  records: UsageRecord[]
  /** A UUID: the database takes a batch with this name once. */
  idempotencyKey: string
}

/** Usage records that were lost. */
export interface DroppedUsage {
  records: number
  /** What their requests cost. */
  usd: number
}

export class UsageQueue {
  readonly #maxWaiting: number
  #waiting: UsageRecord[] = []
  /** Sent, and perhaps written: it is retried unchanged, under its name, before any other batch. */
  #inDoubt: UsageBatch | null = null
  #batchSize = MAX_BATCH_RECORDS
  readonly #dropped: DroppedUsage = { records: 0, usd: 0 }

  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting
  }

  /** Records that have not been sent. */
  get waiting(): number {
    return this.#waiting.length
  }

  get unwritten(): number {
    return this.#waiting.length + (this.#inDoubt?.records.length ?? 0)
  }

  get hasFullBatch(): boolean {
    return this.#waiting.length >= this.#batchSize
  }

  /** Lost so far: the queue was full, the database rejected them, or the process stopped first. */
  get dropped(): Readonly<DroppedUsage> {
    return this.#dropped
  }

  /** Returns the records that were dropped to make room: none, unless the queue is full. */
  add(usage: UsageRecord): readonly UsageRecord[] {
    this.#waiting.push(usage)
    const excess = this.#waiting.length - this.#maxWaiting
    return excess > 0 ? this.#drop(this.#waiting.splice(0, excess)) : []
  }

  /** Drops all that is not written, and returns it. */
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

  /** Returns the batch to send, and the same one again until `noteWritten` or `divide` is called. */
  nextBatch(): UsageBatch {
    this.#inDoubt ??= { records: this.#waiting.splice(0, this.#batchSize), idempotencyKey: crypto.randomUUID() }
    return this.#inDoubt
  }

  markWritten(): void {
    this.#inDoubt = null
    this.#batchSize = Math.min(MAX_BATCH_RECORDS, this.#batchSize * 2)
  }

  /**
   * Call it when the database refused the batch. One bad record must not block the others, so batches are halved until it is found.
   * Returns that record, which is then dropped.
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

/** What the requests of these records cost, in dollars. */
export function sumCostUsd(records: readonly UsageRecord[]): number {
  return records.reduce((sum, { cost_usd }) => sum + (Number.isFinite(cost_usd) ? cost_usd : 0), 0)
}

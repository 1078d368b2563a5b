/** Usage records that wait to be written: batch by batch, each under a name of its own until it is known what became of it. */
import type { UsageRecord } from '../postgres/record-usage.ts'

export const MAX_BATCH = 1_000
/** About a minute of a busy proxy; a database that is away longer costs records, not memory. */
const MAX_WAITING = 500_000

export interface UsageBatch {
  records: UsageRecord[]
  /** A UUID: the database takes what it names once. */
  name: string
}

export class UsageQueue {
  #waiting: UsageRecord[] = []
  /** Sent, and perhaps written: it goes again as it is, under its name, before any other. */
  #inDoubt: UsageBatch | null = null
  #batchSize = MAX_BATCH
  #dropped = 0

  /** Those that have not been sent. */
  get waiting(): number {
    return this.#waiting.length
  }

  get unwritten(): number {
    return this.#waiting.length + (this.#inDoubt?.records.length ?? 0)
  }

  get hasFullBatch(): boolean {
    return this.#waiting.length >= this.#batchSize
  }

  /** Lost so far: too many waited, or the database would not take them. */
  get dropped(): number {
    return this.#dropped
  }

  add(usage: UsageRecord): void {
    this.#waiting.push(usage)
    const excess = this.#waiting.length - MAX_WAITING
    if (excess <= 0) return
    this.#waiting.splice(0, excess)
    this.#dropped += excess
  }

  /** To be sent now, and again until `noteWritten` or `divide` is called. */
  takeBatch(): UsageBatch {
    this.#inDoubt ??= { records: this.#waiting.splice(0, this.#batchSize), name: crypto.randomUUID() }
    return this.#inDoubt
  }

  noteWritten(): void {
    this.#inDoubt = null
    this.#batchSize = Math.min(MAX_BATCH, this.#batchSize * 2)
  }

  /**
   * The database refused the batch. One record that it will never take must not hold up the others: half a batch at a time finds
   * it. Returns that record once it is found, which is then dropped.
   */
  divide(): UsageRecord | undefined {
    const records = this.#inDoubt?.records ?? []
    this.#inDoubt = null
    if (records.length > 1) {
      this.#waiting = records.concat(this.#waiting)
      this.#batchSize = Math.ceil(records.length / 2)
      return undefined
    }
    this.#dropped++
    return records[0]
  }
}

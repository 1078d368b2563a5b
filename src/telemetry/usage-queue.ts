/** The queue of usage records, written in batches. Each batch keeps its id until its fate is known. */
import type { UsageRecord } from '../postgres/usage-record.ts'

export const MAX_BATCH = 1_000
/** About a minute of a busy proxy. If the database is away for longer, records are dropped, so that memory stays bounded. */
const MAX_WAITING = 500_000

export interface UsageBatch {
  records: UsageRecord[]
  /** A UUID: the database takes a batch with this name once. */
  name: string
}

export class UsageQueue {
  #waiting: UsageRecord[] = []
  /** Sent, and perhaps written: it is retried unchanged, under its name, before any other batch. */
  #inDoubt: UsageBatch | null = null
  #batchSize = MAX_BATCH
  #dropped = 0

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

  /** Records lost so far: the queue was full, or the database refused them. */
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

  /** Returns the batch to send, and the same one again until `noteWritten` or `divide` is called. */
  takeBatch(): UsageBatch {
    this.#inDoubt ??= { records: this.#waiting.splice(0, this.#batchSize), name: crypto.randomUUID() }
    return this.#inDoubt
  }

  noteWritten(): void {
    this.#inDoubt = null
    this.#batchSize = Math.min(MAX_BATCH, this.#batchSize * 2)
  }

  /**
   * Call it when the database refused the batch. One bad record must not block the others, so batches are halved until it is found.
   * Returns that record, which is then dropped.
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

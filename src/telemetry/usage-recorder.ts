/** Collects usage records and writes them in batches, off the hot path. */
import { learnTime } from '../event-loop/clock.ts'
import { type Database, sqlStateOf } from '../postgres/database.ts'
import { recordUsage } from '../postgres/record-usage.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import { describeCause } from './describe-cause.ts'
import type { Log } from './log.ts'

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

const FLUSH_EVERY_MS = 500

export interface UsageRecorder {
  record(usage: UsageRecord): void
  /** How many records are not written yet. */
  waiting(): number
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

/** The database's time is learned with every write. `onWritten` is called with records that were written, whose reservations have ended. */
export function createUsageRecorder(
  database: Database,
  log: Log,
  onWritten?: (records: readonly UsageRecord[]) => void,
): UsageRecorder {
  const queue = new UsageQueue()
  const writer = new QueueWriter(queue, database, log, onWritten)

  return {
    record(usage) {
      queue.add(usage)
      // Writes a full batch soon, to relieve the garbage collector, but not during a request.
      if (queue.waiting === MAX_BATCH && !writer.isFailing) setImmediate(() => writer.start())
      // What it did not use is free again as soon as it is written.
      if (usage.spent?.some(({ id }) => id !== null) && !writer.isFailing) setImmediate(() => writer.start())
      writer.schedule()
    },
    waiting: () => queue.unwritten,
    drain: timeLimitMs => writer.drain(timeLimitMs),
  }
}

class QueueWriter {
  readonly #queue: UsageQueue
  readonly #database: Database
  readonly #log: Log
  #isFailing = false
  #writing: Promise<void> | null = null
  #timer: ReturnType<typeof setTimeout> | undefined

  readonly #onWritten: ((records: readonly UsageRecord[]) => void) | undefined

  constructor(queue: UsageQueue, database: Database, log: Log, onWritten?: (records: readonly UsageRecord[]) => void) {
    this.#onWritten = onWritten
    this.#queue = queue
    this.#database = database
    this.#log = log
  }

  get isFailing(): boolean {
    return this.#isFailing
  }

  schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.start()
    }, FLUSH_EVERY_MS)
  }

  start(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  async drain(timeLimitMs: number): Promise<void> {
    const deadline = performance.now() + timeLimitMs
    while ((this.#queue.unwritten > 0 || this.#writing) && performance.now() < deadline) {
      await Promise.race([this.start(), Bun.sleep(Math.max(1, deadline - performance.now()))])
      if (this.#queue.unwritten > 0) await Bun.sleep(20)
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lost = this.#queue.unwritten
    if (lost > 0) this.#log.error({ lost }, 'usage records could not be written in time')
  }

  /** Writes the queued records. Records that arrive meanwhile wait for the next write, unless they fill a batch. */
  async #write(): Promise<void> {
    if (this.#queue.unwritten === 0) return
    do {
      const { records, name } = this.#queue.takeBatch()
      try {
        learnTime(await recordUsage(this.#database, records, name))
        this.#queue.noteWritten()
        this.#onWritten?.(records)
        this.#noteSuccess()
      } catch (error) {
        if (!isRefusal(error)) {
          this.#noteFailure(error)
          break
        }
        this.#divide(error)
      }
    } while (this.#queue.hasFullBatch)
    if (this.#queue.unwritten > 0) this.schedule()
  }

  #divide(error: unknown): void {
    const refused = this.#queue.divide()
    if (!refused) return
    const { dropped } = this.#queue
    this.#log.error({ id: refused.request_id, code: sqlStateOf(error), dropped }, 'a usage record was refused; dropped')
  }

  #noteSuccess(): void {
    if (this.#isFailing) this.#log.info({ dropped: this.#queue.dropped }, 'usage records are written again')
    this.#isFailing = false
  }

  #noteFailure(error: unknown): void {
    const waiting = this.#queue.unwritten
    if (!this.#isFailing)
      this.#log.warn({ cause: describeCause(error), waiting }, 'usage records wait for the database')
    this.#isFailing = true
  }
}

/** Whether retrying is useless: a value does not fit its column, or is missing. */
function isRefusal(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== null && (state.startsWith(DATA_EXCEPTION) || REFUSING_VIOLATIONS.includes(state))
}

/** A class of SQLSTATEs. */
const DATA_EXCEPTION = '22'
/** Not null: a value that is no number is written as null. Check: no partition exists for the time, and none will be created. */
const REFUSING_VIOLATIONS = ['23502', '23514']

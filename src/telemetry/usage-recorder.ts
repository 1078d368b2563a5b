/** Collects usage records and writes them in batches, off the hot path. */
import { setDatabaseTime } from '../event-loop/clock.ts'
import { type Database, sqlStateOf } from '../postgres/database.ts'
import { recordUsage } from '../postgres/record-usage.ts'
import type { UsageRecord } from '../postgres/usage-record.ts'
import type { Log } from './log.ts'
import { type DroppedUsage, MAX_BATCH_RECORDS, sumCostUsd, UsageQueue } from './usage-queue.ts'

const FLUSH_EVERY_MS = 500

export interface UsageRecorder {
  record(usage: UsageRecord): void
  /** How many records are not written yet. */
  waiting(): number
  /** Records that were lost since the start. */
  dropped(): Readonly<DroppedUsage>
  /** Resolves when everything has been written, or the time is up: what is not written then is dropped. */
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
      writer.reportDropped(
        queue.add(usage),
        new Error('Too many records wait'),
        'usage records were dropped: too many wait',
      )
      // Writes a full batch soon, to relieve the garbage collector, but not during a request.
      if (queue.waiting === MAX_BATCH_RECORDS && !writer.isFailing) setImmediate(() => writer.start())
      // What it did not use is free again as soon as it is written.
      if (usage.spent?.some(({ id }) => id !== null) && !writer.isFailing) setImmediate(() => writer.start())
      writer.schedule()
    },
    waiting: () => queue.unwritten,
    dropped: () => queue.dropped,
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
    const lost = this.#queue.dropAll()
    this.reportDropped(
      lost,
      new Error('The time is up'),
      'usage records were dropped: they could not be written in time',
    )
  }

  /** Reports each loss with its requests and dollars. */
  reportDropped(dropped: readonly UsageRecord[], cause: unknown, message: string): void {
    const [first] = dropped
    if (!first) return
    const fields = { id: first.request_id, code: sqlStateOf(cause), records: dropped.length, usd: sumCostUsd(dropped) }
    this.#log.failures.report('record_dropped', cause, message, { fields })
  }

  /** Writes the queued records. Records that arrive meanwhile wait for the next write, unless they fill a batch. */
  async #write(): Promise<void> {
    if (this.#queue.unwritten === 0) return
    do {
      const { records, idempotencyKey } = this.#queue.nextBatch()
      try {
        setDatabaseTime(await recordUsage(this.#database, records, idempotencyKey))
        this.#queue.markWritten()
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
    const refused = this.#queue.splitBatch()
    if (refused) this.reportDropped([refused], error, 'a usage record was rejected by the database: dropped')
  }

  #noteSuccess(): void {
    this.#log.failures.recover('record')
    if (this.#isFailing) this.#log.info({ dropped: this.#queue.dropped.records }, 'usage records are written again')
    this.#isFailing = false
  }

  #noteFailure(error: unknown): void {
    const fields = { waiting: this.#queue.unwritten }
    this.#log.failures.report('record', error, 'usage records wait for the database', { fields })
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

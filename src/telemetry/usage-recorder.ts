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
  /** Returns the number of records that are not written yet. */
  waiting(): number
  /** Returns the records that were lost since the start. */
  dropped(): Readonly<DroppedUsage>
  /** Resolves when everything has been written, or the time is up. Records that are not written by then are dropped. */
  drain(timeLimitMs: number): Promise<void>
}

/** Each write also updates the database's time. `onWritten` is called with the written records, whose reservations have ended. */
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
        new Error('too many usage records wait to be written'),
        'usage records were dropped: too many wait',
      )
      // Writes a full batch soon, to relieve the garbage collector, but not during a request.
      if (queue.waiting === MAX_BATCH_RECORDS && !writer.isFailing) setImmediate(() => writer.start())
      // Writing the record releases the unused part of its reservation.
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
      new Error('usage records were not written within the time limit'),
      'usage records were dropped: they could not be written in time',
    )
  }

  /** Reports dropped records with their number and their cost. */
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
        this.#recordSuccess()
      } catch (error) {
        if (!isRejectedByDatabase(error)) {
          this.#recordFailure(error)
          break
        }
        this.#splitBatch(error)
      }
    } while (this.#queue.hasFullBatch)
    if (this.#queue.unwritten > 0) this.schedule()
  }

  #splitBatch(error: unknown): void {
    const rejected = this.#queue.splitBatch()
    if (rejected) this.reportDropped([rejected], error, 'a usage record was rejected by the database: dropped')
  }

  #recordSuccess(): void {
    this.#log.failures.recover('record')
    if (this.#isFailing) this.#log.info({ dropped: this.#queue.dropped.records }, 'usage records are written again')
    this.#isFailing = false
  }

  #recordFailure(error: unknown): void {
    const fields = { waiting: this.#queue.unwritten }
    this.#log.failures.report('record', error, 'usage records wait for the database', { fields })
    this.#isFailing = true
  }
}

/** Returns whether a retry would fail again, because a value is missing or does not fit its column. */
function isRejectedByDatabase(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== null && (state.startsWith(DATA_EXCEPTION) || VIOLATIONS.includes(state))
}

/** The class of SQLSTATEs for invalid values. */
const DATA_EXCEPTION = '22'
/** Not-null violation: NaN is written as null. Check violation: no partition exists for the record's time, and none will be created. */
const VIOLATIONS = ['23502', '23514']

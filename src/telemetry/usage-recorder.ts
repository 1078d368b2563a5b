/** Collects usage records and writes them in batches, off the hot path. */

import type { Database } from '../postgres/database.ts'
import { sqlStateOf } from '../postgres/database.ts'
import { recordUsage, type UsageRecord } from '../postgres/record-usage.ts'
import { describeCause } from './describe-cause.ts'
import type { Log } from './log.ts'

const FLUSH_EVERY_MS = 500
const MAX_BATCH = 1_000
/** About a minute of a busy proxy; a database that is away longer costs records, not memory. */
const MAX_WAITING = 500_000

export interface UsageRecorder {
  record(usage: UsageRecord): void
  /** Resolves when all has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
}

export function createUsageRecorder(database: Database, log: Log): UsageRecorder {
  let waiting: UsageRecord[] = []
  /** Sent, and perhaps written: it goes again as it is, under its name, before any other. */
  let inDoubt: { records: UsageRecord[]; batch: string } | null = null
  let dropped = 0
  let batchSize = MAX_BATCH
  let failing = false
  let writing: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = null
      startWriting()
    }, FLUSH_EVERY_MS)
  }

  function startWriting(): Promise<void> {
    writing ??= write().finally(() => {
      writing = null
    })
    return writing
  }

  /** What waits; what comes meanwhile waits for its turn, unless it fills a batch. */
  async function write(): Promise<void> {
    if (waiting.length === 0 && !inDoubt) return
    do {
      const { records, batch } = inDoubt ?? { records: waiting.splice(0, batchSize), batch: crypto.randomUUID() }
      inDoubt = { records, batch }
      try {
        await recordUsage(database, records, batch)
        inDoubt = null
        noteSuccess()
      } catch (error) {
        if (isRefusal(error)) {
          divide(records, error)
          inDoubt = null
          continue
        }
        noteFailure(error)
        break
      }
    } while (waiting.length >= batchSize)
    if (waiting.length > 0 || inDoubt) schedule()
  }

  /** One record that the database will never take must not hold up the others: half a batch at a time finds it. */
  function divide(batch: UsageRecord[], error: unknown): void {
    if (batch.length > 1) {
      waiting = batch.concat(waiting)
      batchSize = Math.ceil(batch.length / 2)
      return
    }
    dropped++
    log.error({ id: batch[0]?.request_id, code: sqlStateOf(error), dropped }, 'a usage record was refused; dropped')
  }

  function noteSuccess(): void {
    batchSize = Math.min(MAX_BATCH, batchSize * 2)
    if (failing) log.info({ dropped }, 'usage records are written again')
    failing = false
  }

  function noteFailure(error: unknown): void {
    if (!failing)
      log.warn({ cause: describeCause(error), waiting: countWaiting() }, 'usage records wait for the database')
    failing = true
  }

  function countWaiting(): number {
    return waiting.length + (inDoubt?.records.length ?? 0)
  }

  function dropOverflow(): void {
    const excess = waiting.length - MAX_WAITING
    if (excess <= 0) return
    waiting.splice(0, excess)
    dropped += excess
  }

  return {
    record(usage) {
      waiting.push(usage)
      if (waiting.length > MAX_WAITING) dropOverflow()
      // A full batch soon, for the garbage collector's sake, but not in the midst of a request.
      if (waiting.length === MAX_BATCH && !failing) setImmediate(startWriting)
      schedule()
    },
    async drain(timeLimitMs) {
      const deadline = performance.now() + timeLimitMs
      while ((countWaiting() > 0 || writing) && performance.now() < deadline) {
        await Promise.race([startWriting(), Bun.sleep(Math.max(1, deadline - performance.now()))])
        if (countWaiting() > 0) await Bun.sleep(20)
      }
      if (timer) clearTimeout(timer)
      timer = null
      if (countWaiting() > 0) log.error({ lost: countWaiting() }, 'usage records could not be written in time')
    },
  }
}

/** A value does not fit its column, or is missing, however often it is tried. */
function isRefusal(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== null && (state.startsWith(DATA_EXCEPTION) || REFUSING_VIOLATIONS.includes(state))
}

/** A class of SQLSTATEs. */
const DATA_EXCEPTION = '22'
/** Of not null: what is no number is written as null. Of a check: there is no partition for the time, and none will come. */
const REFUSING_VIOLATIONS = ['23502', '23514']

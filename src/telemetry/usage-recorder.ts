/** Collects usage records and writes them in batches, off the hot path. */
import type { Database } from '../postgres/database.ts'
import { recordUsage, type UsageRecord } from '../postgres/record-usage.ts'
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
  let dropped = 0
  let writing: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | null = null

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = null
      writing ??= write()
    }, FLUSH_EVERY_MS)
  }

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH)
      try {
        await recordUsage(database, batch)
      } catch (error) {
        waiting = batch.concat(waiting)
        dropOverflow()
        log.warn(
          { error: String(error), waiting: waiting.length, dropped },
          'usage records could not be written; trying again',
        )
        schedule()
        break
      }
    }
    writing = null
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
      schedule()
    },
    async drain(timeLimitMs) {
      const deadline = performance.now() + timeLimitMs
      while ((waiting.length > 0 || writing) && performance.now() < deadline) {
        writing ??= write()
        await Promise.race([writing, Bun.sleep(Math.max(1, deadline - performance.now()))])
        if (waiting.length > 0) await Bun.sleep(20)
      }
      if (timer) clearTimeout(timer)
    },
  }
}

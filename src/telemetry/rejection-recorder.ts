/** Records the number of rejected requests every few seconds, so that operators see it across processes and restarts. */
import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { Log } from './log.ts'
import type { RejectionCounter } from './rejection-counter.ts'

const WRITE_EVERY_MS = 5_000
const PART = 'rejections'

export interface RejectionRecorder {
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
  stop(): void
}

export function createRejectionRecorder(
  database: Database,
  counter: Pick<RejectionCounter, 'totals'>,
  { failures }: Pick<Log, 'failures'>,
): RejectionRecorder {
  let written: Record<string, number> = {}
  let writing: Promise<void> | null = null

  async function write(): Promise<void> {
    const totals = counter.totals()
    const differences = Object.entries(totals).map(
      ([reason, total]) => [reason, total - (written[reason] ?? 0)] as const,
    )
    const added = differences.filter(([, count]) => count > 0)
    if (added.length === 0) return
    await callFunction(database, 'record_rejections', {
      reasons: added.map(([reason]) => reason),
      counts: added.map(([, count]) => count),
    })
    written = totals
    failures.recover('request_detail', PART)
  }

  /** Starts a write unless one is in flight. Counts that could not be written are written with the next ones. */
  function startWriting(): Promise<void> {
    writing ??= write()
      .catch(error =>
        failures.report('request_detail', error, 'counts of rejections could not be written', { part: PART }),
      )
      .finally(() => {
        writing = null
      })
    return writing
  }

  const timer = setInterval(startWriting, WRITE_EVERY_MS)
  timer.unref()
  return {
    async drain(timeLimitMs) {
      // The last write does not include rejections that were counted while it was in flight.
      await writing
      await withTimeout(timeLimitMs, startWriting()).catch(() => {})
    },
    stop() {
      clearInterval(timer)
    },
  }
}

/** Records every few seconds how many requests were refused, so that operators see it across processes and restarts. */
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
  refusals: Pick<RejectionCounter, 'totals'>,
  { failures }: Pick<Log, 'failures'>,
): RejectionRecorder {
  let written: Record<string, number> = {}
  let writing: Promise<void> | null = null

  async function write(): Promise<void> {
    const totals = refusals.totals()
    const added = Object.entries(totals).map(([reason, total]) => [reason, total - (written[reason] ?? 0)] as const)
    const more = added.filter(([, count]) => count > 0)
    if (more.length === 0) return
    await callFunction(database, 'record_rejections', {
      reasons: more.map(([reason]) => reason),
      counts: more.map(([, count]) => count),
    })
    written = totals
    failures.recover('request_detail', PART)
  }

  /** Counts that could not be written are sent with the next batch. */
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
      // Refusals noted during the last write are not in it.
      await writing
      await withTimeout(timeLimitMs, startWriting()).catch(() => {})
    },
    stop() {
      clearInterval(timer)
    },
  }
}

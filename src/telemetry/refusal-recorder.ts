/** Records every few seconds how many requests were refused, so that operators see it across processes and restarts. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import { call } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { Log } from './log.ts'
import type { Refusals } from './refusals.ts'

const WRITE_EVERY_MS = 5_000
const PART = 'rejections'

export interface RefusalRecorder {
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
  stop(): void
}

export function createRefusalRecorder(
  database: Database,
  refusals: Pick<Refusals, 'totals'>,
  { failures }: Pick<Log, 'failures'>,
): RefusalRecorder {
  let written: Record<string, number> = {}
  let writing: Promise<void> | null = null

  async function write(): Promise<void> {
    const totals = refusals.totals()
    const added = Object.entries(totals).map(([reason, total]) => [reason, total - (written[reason] ?? 0)] as const)
    const more = added.filter(([, count]) => count > 0)
    if (more.length === 0) return
    await call(database, 'record_refusals', {
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
      await withinTimeLimit(timeLimitMs, startWriting()).catch(() => {})
    },
    stop() {
      clearInterval(timer)
    },
  }
}

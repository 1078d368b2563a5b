/** Records the number of rejected requests every few seconds, so that operators see it across processes and restarts. */
import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import type { Log } from './log.ts'
import type { RejectionCount, RejectionCounter } from './rejection-counter.ts'

const WRITE_EVERY_MS = 5_000
const PART = 'rejections'

export interface RejectionRecorder {
  /** Resolves when everything has been written, or the time is up. */
  drain(timeLimitMs: number): Promise<void>
  stop(): void
}

export function createRejectionRecorder(
  database: Database,
  counter: Pick<RejectionCounter, 'take'>,
  { failures }: Pick<Log, 'failures'>,
): RejectionRecorder {
  let unwritten: RejectionCount[] = []
  let writing: Promise<void> | null = null

  async function write(): Promise<void> {
    unwritten.push(...counter.take())
    if (unwritten.length === 0) return
    await callFunction(database, 'record_rejections', {
      reasons: unwritten.map(({ reason }) => reason),
      key_hashes: unwritten.map(({ keyHash }) => keyHash),
      counts: unwritten.map(({ count }) => count),
    })
    unwritten = []
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

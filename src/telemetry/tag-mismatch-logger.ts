/** Logs cache entries and messages with a wrong integrity tag, at most once a second. */
import type { Log } from './log.ts'

const LOG_EVERY_MS = 1_000

/**
 * The returned function records a mismatch. `name` is the entry's or the recipient's: it identifies the project, and reveals nothing of the
 * request.
 */
export function createTagMismatchLogger(log: Pick<Log, 'error'>): (name: string) => void {
  let total = 0
  let unlogged = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return name => {
    total++
    unlogged++
    const nowMs = performance.now()
    if (nowMs - loggedAtMs < LOG_EVERY_MS) return
    loggedAtMs = nowMs
    log.error(
      { count: unlogged, total, name },
      'an entry or a message in Redis had a wrong integrity tag; it was not used',
    )
    unlogged = 0
  }
}

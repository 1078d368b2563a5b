/**
 * What time it is at the database, which is what counts: what is stored, dated or expires has its time, however wrong this machine's clock is.
 * And a clock that never steps, for what this process alone measures.
 */

/** Less is the way there and back, and is left alone: the order of records stays that of their ends. */
const TOLERATED_MS = 2_000

const STARTED_AT_MS = Date.now() - performance.now()

/** Milliseconds since the epoch, by this machine's clock as it was when the process started: it neither stands still nor steps. */
export function monotonicMs(): number {
  return Math.floor(STARTED_AT_MS + performance.now())
}

/** To a microsecond: further digits of what is recorded cost more to write and to read than the rest of the record. */
export function msSince(startedAtMs: number, endedAtMs = performance.now()): number {
  return Math.round((endedAtMs - startedAtMs) * 1000) / 1000
}

let aheadMs = 0

/** Milliseconds since the epoch. Until the database was asked, as this machine's clock had it at the start. */
export function nowMs(): number {
  return monotonicMs() + aheadMs
}

export function nowSeconds(): number {
  return Math.floor(nowMs() / 1000)
}

let written = { atMs: Number.NaN, text: '' }

/** In ISO 8601, in UTC. Requests that end in the same millisecond share the text. */
export function nowIso(): string {
  const atMs = nowMs()
  if (atMs !== written.atMs) written = { atMs, text: new Date(atMs).toISOString() }
  return written.text
}

/** The database has just answered that it was this time. */
export function setDatabaseTime(now: Date): void {
  const foundMs = now.getTime() - monotonicMs()
  // Small changes of a large difference are the way there and back, too.
  if (Math.abs(foundMs - aheadMs) > TOLERATED_MS) aheadMs = Math.abs(foundMs) > TOLERATED_MS ? foundMs : 0
}

/** How far this machine's clock is behind, for libraries that read it themselves. */
export function clockSkewSeconds(): number {
  // Without a difference, it is no negative zero.
  return Math.round((nowMs() - Date.now()) / 1000) + 0
}

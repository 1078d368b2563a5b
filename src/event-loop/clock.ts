/**
 * Clocks. `nowMs` is the database's time, which dates and expires everything stored, so that a wrong clock on this machine has no effect.
 * `monotonicMs` never steps; it is for durations within this process.
 */

/** Smaller differences are round-trip time and are ignored, so that usage records keep the order in which requests end. */
const TOLERATED_MS = 2_000

const STARTED_AT_MS = Date.now() - performance.now()

/** Milliseconds since the epoch, by this machine's clock at process start plus the time since. It never steps. */
export function monotonicMs(): number {
  return Math.floor(STARTED_AT_MS + performance.now())
}

/** Milliseconds since `startedAtMs`, rounded to microseconds to keep records short. */
export function msSince(startedAtMs: number, endedAtMs = performance.now()): number {
  return Math.round((endedAtMs - startedAtMs) * 1000) / 1000
}

let databaseOffsetMs = 0

/** Milliseconds since the epoch by the database's clock. Equals `monotonicMs` until `setDatabaseTime` is called. */
export function nowMs(): number {
  return monotonicMs() + databaseOffsetMs
}

export function nowSeconds(): number {
  return Math.floor(nowMs() / 1000)
}

let cachedIso = { atMs: Number.NaN, text: '' }

/** The database's time in ISO 8601, UTC. Calls in the same millisecond share one string. */
export function nowIso(): string {
  const atMs = nowMs()
  if (atMs !== cachedIso.atMs) cachedIso = { atMs, text: new Date(atMs).toISOString() }
  return cachedIso.text
}

/** Sets the database's current time. Must be called at once with the time in a reply. */
export function setDatabaseTime(now: Date): void {
  const offsetMs = now.getTime() - monotonicMs()
  // Small changes of a large offset are round-trip time, too.
  if (Math.abs(offsetMs - databaseOffsetMs) > TOLERATED_MS)
    databaseOffsetMs = Math.abs(offsetMs) > TOLERATED_MS ? offsetMs : 0
}

/** Seconds by which this machine's clock is behind the database's, for libraries that read the machine's clock. */
export function clockSkewSeconds(): number {
  // Adding 0 turns a negative zero into zero.
  return Math.round((nowMs() - Date.now()) / 1000) + 0
}

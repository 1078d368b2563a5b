/** Waits until a condition holds. */

/** The pause grows up to this: fast conditions are seen early, and slow ones are not checked too often. */
const MAX_PAUSE_MS = 25
/** The limit for a condition that never holds. On a busy machine, one second of work can take a minute. */
const HANGS_AFTER_MS = 120_000

/**
 * Returns the time that it took, in milliseconds. Throws after the limit, with the name of the condition (and the last value). Only tests
 * that check the time itself pass a limit.
 */
export async function waitUntil(
  what: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  limitMs = HANGS_AFTER_MS,
): Promise<number> {
  const startedAtMs = performance.now()
  for (let pauseMs = 1; !(await holds()); pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    if (performance.now() - startedAtMs > limitMs) {
      throw new Error(`Not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`)
    }
    await Bun.sleep(pauseMs)
  }
  return performance.now() - startedAtMs
}

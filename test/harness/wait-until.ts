/** Waiting for what must become true soon. */

/** What comes soon is seen soon, and what takes long is not asked for all the time. */
const MAX_PAUSE_MS = 25
/** For what hangs: on a machine that is busy with other work, what takes a second may take a minute. */
const HANGS_AFTER_MS = 120_000

/**
 * Resolves to how many milliseconds it took; throws, naming what it waited for (and what it saw), once the limit has passed. A limit is
 * given only where the time itself is what the test is about.
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

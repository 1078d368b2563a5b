/** Waiting for what must become true soon. */

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
  while (!(await holds())) {
    if (performance.now() - startedAtMs > limitMs) {
      throw new Error(`Not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`)
    }
    await Bun.sleep(25)
  }
  return performance.now() - startedAtMs
}

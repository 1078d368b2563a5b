/** Waiting for what must become true soon. */

/** Resolves to how many milliseconds it took; throws, naming what it waited for (and what it saw), once the limit has passed. */
export async function waitUntil(
  what: string | (() => string),
  limitMs: number,
  holds: () => boolean | Promise<boolean>,
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

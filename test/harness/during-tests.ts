/** Starts what a group of tests needs, such as a proxy, a fake provider or a database, and ends it after them. */
import { afterAll, beforeAll } from 'vitest'

/** How it is ended: by `remove`, which also deletes its data, or else `stop`, or else `close`. */
type Ending = { remove(): unknown } | { stop(): unknown } | { close(): unknown }

/**
 * Call it in `describe` or at the top of a file, like a hook. The members of what it returns can be read in hooks and tests. What is started
 * later is ended earlier.
 */
export function duringTests<Started extends Ending>(start: () => Started | Promise<Started>): Started {
  const started = {} as Started & Partial<Record<'remove' | 'stop' | 'close', () => unknown>>
  beforeAll(async () => {
    Object.defineProperties(started, Object.getOwnPropertyDescriptors(await start()))
  })
  // If it did not start, there is nothing to end.
  afterAll(() => (started.remove ?? started.stop ?? started.close)?.())
  return started
}

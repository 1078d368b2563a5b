/** The event loop of a test. After a tick, all code that was ready has run. For code that depends only on the event loop. */

export const eventLoopTick = () => new Promise<void>(resolve => setImmediate(resolve))

/** Returns whether the promise has settled after all ready code has run. */
export async function hasSettled(promise: Promise<unknown> | null): Promise<boolean> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise?.then(settle, settle)
  await eventLoopTick()
  await eventLoopTick()
  return isSettled
}

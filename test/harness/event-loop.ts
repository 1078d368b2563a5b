/** The event loop of a test, for what depends on nothing outside of it: after a turn, all that was ready has run. */

export const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** Whether it has settled, once all that was ready has run. */
export async function hasSettled(promise: Promise<unknown> | null): Promise<boolean> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise?.then(settle, settle)
  await turn()
  await turn()
  return isSettled
}

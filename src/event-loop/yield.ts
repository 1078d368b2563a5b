/** Lets long work yield to the event loop. */

/** Time between two yields. */
const TURN_MS = 4

/** Returns undefined while there is time left; else a promise that resolves after the event loop has handled pending work. */
export type YieldTurn = () => Promise<void> | undefined

export function createYieldTurn(): YieldTurn {
  let turnEndsAtMs = performance.now() + TURN_MS
  return () => {
    if (performance.now() < turnEndsAtMs) return undefined
    return new Promise(resolve => {
      setImmediate(() => {
        turnEndsAtMs = performance.now() + TURN_MS
        resolve()
      })
    })
  }
}

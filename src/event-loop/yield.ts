/** Lets others have their turn in the midst of long work. */

/** Work goes on for so long before others are let in. */
const TURN_MS = 4

/** Undefined while the turn lasts; else resolves when everything that was waiting has had its own. */
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

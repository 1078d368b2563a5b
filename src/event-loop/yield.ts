/** Lets others have their turn in the midst of long work. */

/** Work goes on for so long before others are let in. */
const TURN_MS = 4

/** Resolves at once while the turn lasts, else when everything that was waiting has had its own. */
export type Breathe = () => Promise<void> | undefined

export function createBreather(): Breathe {
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

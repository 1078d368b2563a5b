/** Time limits on calls that must not hang. */

export class TimeLimitExceeded extends Error {
  constructor(limitMs: number) {
    super(`No result within ${limitMs} ms`)
    this.name = 'TimeLimitExceeded'
  }
}

/** A timer that fires this much too late tells that this process was busy, rather than that nothing came. */
const LATE_MS = 50
/** Long enough to read what came meanwhile. */
const HEARING_MS = 50

/** The call's own outcome, or TimeLimitExceeded once the limit has passed; the call itself goes on unheard. */
export function withinTimeLimit<T>(limitMs: number, call: Promise<T>): Promise<T> {
  let endLimit: (() => void) | undefined
  const limit = new Promise<never>((_, reject) => {
    endLimit = startTimeLimit(limitMs, () => reject(new TimeLimitExceeded(limitMs)))
  })
  return Promise.race([call, limit]).finally(endLimit)
}

/** Calls back once the limit has passed, unless the returned function is called before. */
export function startTimeLimit(limitMs: number, onPassed: () => void): () => void {
  let timer = wait(limitMs)

  function wait(ms: number) {
    const dueMs = performance.now() + ms
    return setTimeout(() => {
      if (performance.now() - dueMs > LATE_MS) timer = wait(HEARING_MS)
      else onPassed()
    }, ms)
  }
  return () => clearTimeout(timer)
}

/** The queue for unproven keys under load. Everything queued is released together, a few times a second. */

const RELEASE_EVERY_MS = 200
const MAX_WAITING = 1_000

export interface SlowLane {
  /** Resolves to true when released; resolves to false at once when the queue is full. */
  enter(): Promise<boolean>
}

export function createSlowLane(): SlowLane {
  let waiting: ((isReleased: boolean) => void)[] = []

  function release(): void {
    const all = waiting
    waiting = []
    for (const resolve of all) resolve(true)
  }

  return {
    enter() {
      if (waiting.length >= MAX_WAITING) return Promise.resolve(false)
      if (waiting.length === 0) setTimeout(release, RELEASE_EVERY_MS)
      return new Promise(resolve => waiting.push(resolve))
    },
  }
}

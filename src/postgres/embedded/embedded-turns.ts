/** Whose turn it is with the one session of the embedded database: one owner at a time, first come, first served. */

export interface Turns {
  /**
   * Resolves, once the turn has come, with the function that ends it.
   * Rejects when it has not come within `limitMs` (`Infinity`: waits for as long as it takes).
   */
  take(limitMs: number): Promise<() => void>
  /** Whether anyone waits for the present owner. */
  isAwaited(): boolean
}

/** PostgreSQL's SQLSTATE for a lock that did not come in time. */
const LOCK_NOT_AVAILABLE = '55P03'

interface Waiter {
  begin(): void
}

export function createTurns(): Turns {
  const waiters = new Set<Waiter>()
  let taken = false

  function passOn() {
    const [next] = waiters
    taken = next !== undefined
    if (next) waiters.delete(next)
    next?.begin()
  }

  function endOnce(): () => void {
    let ended = false
    return () => {
      if (!ended) passOn()
      ended = true
    }
  }

  return {
    isAwaited: () => waiters.size > 0,
    take(limitMs) {
      if (!taken) {
        taken = true
        return Promise.resolve(endOnce())
      }
      return new Promise((resolve, reject) => {
        const waiter = {
          begin() {
            clearTimeout(timer)
            resolve(endOnce())
          },
        }
        const timer = Number.isFinite(limitMs) ? setTimeout(giveUp, limitMs) : undefined
        function giveUp() {
          waiters.delete(waiter)
          reject(
            Object.assign(new Error('A psql session holds a transaction open; end it'), { code: LOCK_NOT_AVAILABLE }),
          )
        }
        waiters.add(waiter)
      })
    },
  }
}

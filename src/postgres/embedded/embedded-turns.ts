/** Whose turn it is with the one session of the embedded database: one owner at a time; the urgent before the others, each first come, first served. */

export interface TurnWish {
  /** How long to wait (`Infinity`: for as long as it takes). */
  limitMs: number
  /** Comes before all that is not. */
  isUrgent?: boolean
}

export interface Turns {
  /** Resolves, once the turn has come, with the function that ends it. Rejects when it has not come in time. */
  take(wish: TurnWish): Promise<() => void>
  /** How long the first of those who wait for the present owner has waited; 0 where nobody does. */
  awaitedMs(): number
}

/** PostgreSQL's SQLSTATE for a lock that did not come in time. */
const LOCK_NOT_AVAILABLE = '55P03'

interface Waiter {
  sinceMs: number
  begin(): void
}

export function createTurns(): Turns {
  const urgent = new Set<Waiter>()
  const others = new Set<Waiter>()
  let taken = false

  function passOn() {
    const queue = urgent.size > 0 ? urgent : others
    const [next] = queue
    taken = next !== undefined
    if (next) queue.delete(next)
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
    awaitedMs() {
      const since = [urgent, others].flatMap(([first]) => (first ? [first.sinceMs] : []))
      return since.length === 0 ? 0 : performance.now() - Math.min(...since)
    },
    take({ limitMs, isUrgent = false }) {
      if (!taken) {
        taken = true
        return Promise.resolve(endOnce())
      }
      const queue = isUrgent ? urgent : others
      return new Promise((resolve, reject) => {
        const waiter = {
          sinceMs: performance.now(),
          begin() {
            clearTimeout(timer)
            resolve(endOnce())
          },
        }
        const timer = Number.isFinite(limitMs) ? setTimeout(giveUp, limitMs) : undefined
        function giveUp() {
          queue.delete(waiter)
          reject(
            Object.assign(new Error('The embedded database is busy; end what keeps it so'), {
              code: LOCK_NOT_AVAILABLE,
            }),
          )
        }
        queue.add(waiter)
      })
    },
  }
}

/** Shares the embedded database's single session: one owner at a time; urgent owners first, then in order of arrival. */

export interface SessionLockRequest {
  /** Longest wait (`Infinity` for no limit). */
  limitMs: number
  /** Runs before requests that are not urgent. */
  isUrgent?: boolean
}

export interface SessionLock {
  /** Resolves to the function that ends the turn. Rejects when the turn has not come in time. */
  acquire(request: SessionLockRequest): Promise<() => void>
  /** How long the first waiter has waited for the present owner; 0 when there is none. */
  longestWaitMs(): number
}

/** PostgreSQL's SQLSTATE for a lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03'

interface Waiter {
  sinceMs: number
  begin(): void
}

export function createSessionLock(): SessionLock {
  const urgent = new Set<Waiter>()
  const others = new Set<Waiter>()
  let taken = false
  let takenAtMs = 0

  function passOn() {
    const queue = urgent.size > 0 ? urgent : others
    const [next] = queue
    taken = next !== undefined
    takenAtMs = performance.now()
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
    longestWaitMs() {
      const since = [urgent, others].flatMap(([first]) => (first ? [first.sinceMs] : []))
      return since.length === 0 ? 0 : performance.now() - Math.max(takenAtMs, Math.min(...since))
    },
    acquire({ limitMs, isUrgent = false }) {
      if (!taken) {
        taken = true
        takenAtMs = performance.now()
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

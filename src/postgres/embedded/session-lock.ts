/** A lock on the embedded database's single session. Urgent waiters get it first, then others in order of arrival. */

export interface SessionLockRequest {
  /** The longest wait; `Infinity` for no limit. */
  limitMs: number
  /** True to get the lock before waiters that are not urgent. */
  isUrgent?: boolean
}

export interface SessionLock {
  /** Acquires the lock. Resolves to the function that releases it. Rejects after `limitMs`. */
  acquire(request: SessionLockRequest): Promise<() => void>
  /** Returns how long the first waiter has waited for the current owner; 0 without waiters. */
  longestWaitMs(): number
}

/** SQLSTATE: lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03'

interface Waiter {
  sinceMs: number
  begin(): void
}

export function createSessionLock(): SessionLock {
  const urgent = new Set<Waiter>()
  const others = new Set<Waiter>()
  let isHeld = false
  let acquiredAtMs = 0

  function handOver() {
    const queue = urgent.size > 0 ? urgent : others
    const [next] = queue
    isHeld = next !== undefined
    acquiredAtMs = performance.now()
    if (next) queue.delete(next)
    next?.begin()
  }

  function createRelease(): () => void {
    let isReleased = false
    return () => {
      if (!isReleased) handOver()
      isReleased = true
    }
  }

  return {
    longestWaitMs() {
      const since = [urgent, others].flatMap(([first]) => (first ? [first.sinceMs] : []))
      return since.length === 0 ? 0 : performance.now() - Math.max(acquiredAtMs, Math.min(...since))
    },
    acquire({ limitMs, isUrgent = false }) {
      if (!isHeld) {
        isHeld = true
        acquiredAtMs = performance.now()
        return Promise.resolve(createRelease())
      }
      const queue = isUrgent ? urgent : others
      return new Promise((resolve, reject) => {
        const waiter = {
          sinceMs: performance.now(),
          begin() {
            clearTimeout(timer)
            resolve(createRelease())
          },
        }
        const timer = Number.isFinite(limitMs) ? setTimeout(giveUp, limitMs) : undefined
        function giveUp() {
          queue.delete(waiter)
          reject(
            Object.assign(new Error('the embedded database is busy; end open transactions in psql, or retry'), {
              code: LOCK_NOT_AVAILABLE,
            }),
          )
        }
        queue.add(waiter)
      })
    },
  }
}

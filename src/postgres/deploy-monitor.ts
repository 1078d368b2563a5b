/** Tells whether a deploy blocks the database. Requests then keep waiting instead of failing with a 503. */
import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from './call.ts'
import type { Database } from './database.ts'

/** A database that takes longer counts as gone. */
const ANSWER_LIMIT_MS = 100
/** Callers share one check, and reuse its result for this long. */
const ASK_EVERY_MS = 50

export interface DeployMonitor {
  /** Starts a check early, because a busy database may need longer to answer than the requests can still wait. */
  startCheck(): void
  /** Never throws: a database that does not answer is not in a deploy. A deploy seen since `sinceMs` still counts. */
  isDeploying(sinceMs: number): Promise<boolean>
}

export function createDeployMonitor(database: Database): DeployMonitor {
  let asking: Promise<boolean> | null = null
  let askedAtMs = Number.NEGATIVE_INFINITY
  let heardAtMs = Number.NEGATIVE_INFINITY

  async function readNow(): Promise<boolean> {
    const isOn = await callFunction(database, 'is_deploying', {}).catch(() => false)
    if (isOn) heardAtMs = performance.now()
    return isOn
  }

  function ask(): Promise<boolean> {
    const nowMs = performance.now()
    if (asking === null || nowMs - askedAtMs > ASK_EVERY_MS) {
      askedAtMs = nowMs
      asking = readNow()
    }
    return asking
  }

  return {
    startCheck: () => void ask(),
    async isDeploying(sinceMs) {
      if (heardAtMs > sinceMs) return true
      const isOn = await withTimeout(ANSWER_LIMIT_MS, ask()).catch(() => false)
      // A check that started earlier may have succeeded meanwhile.
      return isOn || heardAtMs > sinceMs
    },
  }
}

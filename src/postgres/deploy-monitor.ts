/** Detects a deploy that blocks the database. Requests then wait instead of failing with a 503. */
import { withTimeout } from '../event-loop/timeouts.ts'
import { callFunction } from './call.ts'
import type { Database } from './database.ts'

/** A database that takes longer counts as unavailable. */
const CHECK_TIME_LIMIT_MS = 100
/** Callers share one check, and reuse its result for this long. */
const REUSE_CHECK_MS = 50

export interface DeployMonitor {
  /** Starts a check early, because a busy database may take longer to reply than requests can still wait. */
  startCheck(): void
  /** Returns true during a deploy, and if one was seen since `sinceMs`. Never throws; returns false if the database does not reply. */
  isDeploying(sinceMs: number): Promise<boolean>
}

export function createDeployMonitor(database: Database): DeployMonitor {
  let check: Promise<boolean> | null = null
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let lastDeployAtMs = Number.NEGATIVE_INFINITY

  async function readState(): Promise<boolean> {
    const isActive = await callFunction(database, 'is_deploying', {}).catch(() => false)
    if (isActive) lastDeployAtMs = performance.now()
    return isActive
  }

  function checkOrReuse(): Promise<boolean> {
    const nowMs = performance.now()
    if (check === null || nowMs - checkedAtMs > REUSE_CHECK_MS) {
      checkedAtMs = nowMs
      check = readState()
    }
    return check
  }

  return {
    startCheck: () => void checkOrReuse(),
    async isDeploying(sinceMs) {
      if (lastDeployAtMs > sinceMs) return true
      const isActive = await withTimeout(CHECK_TIME_LIMIT_MS, checkOrReuse()).catch(() => false)
      // A check that started earlier may have succeeded meanwhile.
      return isActive || lastDeployAtMs > sinceMs
    },
  }
}

/** Whether a deploy is what keeps requests waiting: then they wait on, where they would be told that the database is gone. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { isDeploying } from '../postgres/is-deploying.ts'

/** One that answers later is gone, whatever else it is. */
const ANSWER_LIMIT_MS = 100
/** All who ask at once are told by one call, and so are those who ask soon after. */
const ASK_EVERY_MS = 50

export interface DeployWatch {
  /** Asks while requests still wait: a busy database may take longer to say it than they have left in the end. */
  askAhead(): void
  /** Never throws: a database that does not answer is not being deployed to. What was heard since `sinceMs` still holds. */
  isOn(sinceMs: number): Promise<boolean>
}

export function createDeployWatch(database: Database): DeployWatch {
  let asking: Promise<boolean> | null = null
  let askedAtMs = Number.NEGATIVE_INFINITY
  let heardAtMs = Number.NEGATIVE_INFINITY

  async function readNow(): Promise<boolean> {
    const isOn = await isDeploying(database).catch(() => false)
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
    askAhead: () => void ask(),
    async isOn(sinceMs) {
      if (heardAtMs > sinceMs) return true
      const isOn = await withinTimeLimit(ANSWER_LIMIT_MS, ask()).catch(() => false)
      // One that was asked before may have answered meanwhile.
      return isOn || heardAtMs > sinceMs
    },
  }
}

/** Whether a deploy is what keeps requests waiting: then they wait on, where they would be told that the database is gone. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { isDeploying } from '../postgres/is-deploying.ts'

/** One that answers later is gone, whatever else it is. */
const ANSWER_LIMIT_MS = 100
/** All who ask at once are told by one call, and so are those who ask soon after. */
const ASK_EVERY_MS = 50

/** Never throws: a database that does not answer is not being deployed to. */
export function createDeployWatch(database: Database): () => Promise<boolean> {
  let asking: Promise<boolean> | null = null
  let askedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (asking === null || nowMs - askedAtMs > ASK_EVERY_MS) {
      askedAtMs = nowMs
      asking = withinTimeLimit(ANSWER_LIMIT_MS, isDeploying(database)).catch(() => false)
    }
    return asking
  }
}

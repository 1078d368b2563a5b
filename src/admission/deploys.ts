/** Tells whether a deploy blocks the database. Requests then keep waiting instead of failing with a 503. */
import { withinTimeLimit } from '../event-loop/time-limit.ts'
import type { Database } from '../postgres/database.ts'
import { isDeploying } from '../postgres/is-deploying.ts'

/** A database that takes longer counts as gone. */
const ANSWER_LIMIT_MS = 100
/** Callers share one check, and reuse its result for this long. */
const ASK_EVERY_MS = 50

/** Never throws: a database that does not answer is not in a deploy. */
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

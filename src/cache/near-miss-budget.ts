/** Limits how many near misses are recorded. People look at a few, and among a thousand prompts of one pattern each is near another. */
import { LRUCache } from 'lru-cache'

/** Per group of comparable prompts and minute, in this process. */
const MOST_A_MINUTE = 20
const MINUTE_MS = 60_000
const MAX_GROUPS = 10_000

/** Whether another near miss of the group may be recorded; if so, it is counted. */
export type TakeNearMiss = (projectId: number, contextHash: string) => boolean

export function createNearMissBudget(): TakeNearMiss {
  const groups = new LRUCache<string, { taken: number }>({ max: MAX_GROUPS, ttl: MINUTE_MS })
  return (projectId, contextHash) => {
    const name = `${projectId} ${contextHash}`
    let group = groups.get(name)
    if (!group) {
      group = { taken: 0 }
      groups.set(name, group)
    }
    return ++group.taken <= MOST_A_MINUTE
  }
}

/** How many near misses are written down: people look at a few, and of a thousand prompts made after one pattern each is near another. */
import { LRUCache } from 'lru-cache'

/** Of one group of comparable prompts, in a minute, in this process. */
const MOST_A_MINUTE = 20
const MINUTE_MS = 60_000
const MAX_GROUPS = 10_000

/** Whether one more of the group may be written down; counts it where it may. */
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

/** Limits how many of a kind are recorded in a minute, so that nobody can fill the disk with what people look at a few of. */
import { LRUCache } from 'lru-cache'

const MINUTE_MS = 60_000
const MAX_GROUPS = 10_000

/** Whether another of this group may be recorded in this process; if so, it is counted. */
export type MinuteLimiter = (group: string) => boolean

export function createMinuteLimiter(mostAMinute: number): MinuteLimiter {
  const groups = new LRUCache<string, { taken: number }>({ max: MAX_GROUPS, ttl: MINUTE_MS })
  return name => {
    let group = groups.get(name)
    if (!group) {
      group = { taken: 0 }
      groups.set(name, group)
    }
    return ++group.taken <= mostAMinute
  }
}

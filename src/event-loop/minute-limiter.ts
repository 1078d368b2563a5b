/** Limits how many items of a group are recorded per minute, so that no caller can fill the disk with them. */
import { LRUCache } from 'lru-cache'

const MINUTE_MS = 60_000
const MAX_GROUPS = 10_000

/** Counts an item of the group. Returns false when this process has recorded the group's maximum for the minute. */
export type MinuteLimiter = (group: string) => boolean

export function createMinuteLimiter(maxPerMinute: number): MinuteLimiter {
  const groups = new LRUCache<string, { count: number }>({ max: MAX_GROUPS, ttl: MINUTE_MS })
  return name => {
    let group = groups.get(name)
    if (!group) {
      group = { count: 0 }
      groups.set(name, group)
    }
    return ++group.count <= maxPerMinute
  }
}

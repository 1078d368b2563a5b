/** How many admin keys and sessions that nobody has an address may try: each costs a call of the database. */
import { LRUCache } from 'lru-cache'
import { refuse } from '../errors.ts'
import { addressPrefix } from '../http/client-address.ts'
import type { FastStore } from '../stores/fast-store.ts'

const PER_MINUTE = 120
/** Hashes of keys and sessions that were good: these may be looked up whatever else comes from their address. */
const REMEMBERED = 10_000

export interface Guesses {
  /** What `find` finds of the hash; null for what nobody has. Throws a 429 where its address has tried too many of those. */
  look<Holder>(hash: string, address: string, find: (hash: string) => Promise<Holder | null>): Promise<Holder | null>
}

/** `store`: this process's own. */
export function createGuesses(store: Pick<FastStore, 'pass' | 'uncount'>): Guesses {
  const good = new LRUCache<string, true>({ max: REMEMBERED })

  return {
    async look(hash, address, find) {
      if (good.has(hash)) return find(hash)
      const window = { name: `admin:${addressPrefix(address)}`, limit: PER_MINUTE }
      const counted = await store.pass({ requests: 1, windows: [window], entries: [] })
      if (counted.granted === 0)
        throw refuse('edgeRateLimited', { seconds: Math.max(1, Math.ceil(counted.waitMs / 1000)) })
      const holder = await find(hash)
      if (holder !== null) {
        good.set(hash, true)
        await store.uncount([window.name], 1, counted.countedAtSecond)
      }
      return holder
    },
  }
}

/** Limits an address's attempts with unknown admin keys and sessions, because each costs a database call. */
import { LRUCache } from 'lru-cache'
import { createError } from '../errors/errors.ts'
import { addressPrefix, type FastStore } from '../stores/fast-store.ts'

const PER_MINUTE = 120
/** Hashes of keys and sessions that were valid: they are looked up even if their address has exceeded the limit. */
const REMEMBERED = 10_000

export interface CredentialAttemptLimiter {
  /** Returns what `find` returns; null for an unknown hash. Throws a 429 after too many unknown ones from its address. */
  lookUp<Holder>(hash: string, address: string, find: (hash: string) => Promise<Holder | null>): Promise<Holder | null>
}

/** `store` is this process's own. */
export function createCredentialAttemptLimiter(store: Pick<FastStore, 'count' | 'uncount'>): CredentialAttemptLimiter {
  const good = new LRUCache<string, true>({ max: REMEMBERED })

  return {
    async lookUp(hash, address, find) {
      if (good.has(hash)) return find(hash)
      const window = { name: `admin:${addressPrefix(address)}`, limit: PER_MINUTE }
      const counted = await store.count({ requests: 1, windows: [window], entries: [] })
      if (counted.granted === 0)
        throw createError('edgeRateLimited', { seconds: Math.max(1, Math.ceil(counted.waitMs / 1000)) })
      const holder = await find(hash)
      if (holder !== null) {
        good.set(hash, true)
        await store.uncount([window.name], 1, counted.receipt)
      }
      return holder
    },
  }
}

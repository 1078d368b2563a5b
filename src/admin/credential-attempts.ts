/** Limits an address's attempts with unknown admin keys and sessions, because each costs a database call. */
import { LRUCache } from 'lru-cache'
import { createError } from '../errors/errors.ts'
import { addressPrefix, type FastStore } from '../stores/fast-store.ts'

const ATTEMPTS_PER_MINUTE = 120
/** The number of hashes of valid keys and sessions to remember. They are looked up even if their address has exceeded the limit. */
const MAX_VALID_HASHES = 10_000

export interface CredentialAttemptLimiter {
  /** Looks up a hash with `find`. Returns null if it is unknown. Throws a 429 after too many unknown hashes from the address. */
  lookUp<Holder>(hash: string, address: string, find: (hash: string) => Promise<Holder | null>): Promise<Holder | null>
}

/** Creates a limiter. `store` is local to this process. */
export function createCredentialAttemptLimiter(store: Pick<FastStore, 'count' | 'uncount'>): CredentialAttemptLimiter {
  const validHashes = new LRUCache<string, true>({ max: MAX_VALID_HASHES })

  return {
    async lookUp(hash, address, find) {
      if (validHashes.has(hash)) return find(hash)
      const window = { name: `admin:${addressPrefix(address)}`, limit: ATTEMPTS_PER_MINUTE }
      const counted = await store.count({ requests: 1, windows: [window], entries: [] })
      if (counted.granted === 0)
        throw createError('edgeRateLimited', { seconds: Math.max(1, Math.ceil(counted.waitMs / 1000)) })
      const holder = await find(hash)
      if (holder !== null) {
        validHashes.set(hash, true)
        await store.uncount([window.name], 1, counted.receipt)
      }
      return holder
    },
  }
}

/** Remembers accounts by key: guesses that save a round trip, never verdicts. */
import { LRUCache } from 'lru-cache'
import type { Account, UnknownKey } from '../postgres/admit.ts'

const MAX_KEYS = 100_000

export interface AccountMemory {
  /** Returns null when the key is not known to be active. */
  find(keyHash: string): Account | null
  note(keyHash: string, account: Account | UnknownKey): void
}

export function createAccountMemory(): AccountMemory {
  // Every entry has size 1. With `max` instead, the library would allocate room for all entries at each start.
  const accounts = new LRUCache<string, Account>({ maxSize: MAX_KEYS, sizeCalculation: () => 1 })
  return {
    find: keyHash => accounts.get(keyHash) ?? null,
    note(keyHash, account) {
      if (account.verdict === 'active') accounts.set(keyHash, account)
      else accounts.delete(keyHash)
    },
  }
}

/** Accounts as they were last seen, by key: guesses that save a round trip, never verdicts. */
import { LRUCache } from 'lru-cache'
import type { Account, UnknownKey } from '../postgres/admit.ts'

const MAX_KEYS = 100_000

export interface AccountMemory {
  /** Null where the key was not seen to be active. */
  find(keyHash: string): Account | null
  note(keyHash: string, account: Account | UnknownKey): void
}

export function createAccountMemory(): AccountMemory {
  // As many accounts; by `max`, the library would lay out room for all of them at once, at each start.
  const accounts = new LRUCache<string, Account>({ maxSize: MAX_KEYS, sizeCalculation: () => 1 })
  return {
    find: keyHash => accounts.get(keyHash) ?? null,
    note(keyHash, account) {
      if (account.verdict === 'active') accounts.set(keyHash, account)
      else accounts.delete(keyHash)
    },
  }
}

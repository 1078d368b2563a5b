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
  const accounts = new LRUCache<string, Account>({ max: MAX_KEYS })
  return {
    find: keyHash => accounts.get(keyHash) ?? null,
    note(keyHash, account) {
      if (account.verdict === 'active') accounts.set(keyHash, account)
      else accounts.delete(keyHash)
    },
  }
}

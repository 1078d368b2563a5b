/** Validates keys: a key is good when the database says so now. Keys not known to be good share calls, and are throttled per address. */
import { refuse } from '../errors.ts'
import type { Account, UnknownKey } from '../postgres/admit.ts'
import { type FastStore, unknownKeyWindowName } from '../stores/fast-store.ts'
import { createAccountMemory } from './account-memory.ts'
import { rateLimitExceeded } from './refusals.ts'
import type { Reservations } from './reservations.ts'
import { createSlowLane } from './slow-lane.ts'

/** Unknown keys per address and minute. Beyond that they are queued, so that guessing keys costs few database calls. */
const UNKNOWN_KEYS_PER_MINUTE = 120

export interface KeyValidation {
  /** The key's account as last seen: a guess, never a verdict. Null when the key is not known to be good. */
  lastKnown(keyHash: string): Account | null
  /** Remembers what the database just said about the key. */
  note(keyHash: string, account: Account | UnknownKey): void
  /** Throws 401, 403 or 503 unless the database confirms that the key is good now. */
  validate(keyHash: string): Promise<Account>
  /**
   * As `validate`, for a key that is not known to be good. Throws 429, too, after many bad keys from its address. Concurrent requests
   * with the same key and address share one call.
   */
  validateUnknown(keyHash: string, address: string): Promise<Account>
}

export function createKeyValidation(store: FastStore, reservations: Pick<Reservations, 'validate'>): KeyValidation {
  const memory = createAccountMemory()
  const slowLane = createSlowLane()
  const validating = new Map<string, Promise<Account>>()

  async function ask(keyHash: string): Promise<Account | UnknownKey> {
    const account = await reservations.validate(keyHash)
    memory.note(keyHash, account)
    return account
  }

  /** After too many bad keys, further unproven keys from the address are queued. */
  async function validateInTurn(keyHash: string, address: string): Promise<Account> {
    const window = { name: unknownKeyWindowName(address), limit: UNKNOWN_KEYS_PER_MINUTE }
    const counted = await store.pass({ requests: 1, windows: [window], entries: [] })
    const isCrowded = counted.granted === 0
    if (isCrowded && !(await slowLane.enter())) throw rateLimitExceeded(UNKNOWN_KEYS_PER_MINUTE, counted.waitMs)
    const account = await ask(keyHash)
    if (account.verdict !== 'unknown' && !isCrowded) await store.uncount([window.name], 1, counted.countedAtSecond)
    if (account.verdict === 'unknown' && isCrowded) throw rateLimitExceeded(UNKNOWN_KEYS_PER_MINUTE, counted.waitMs)
    refuseInactive(account)
    return account
  }

  return {
    lastKnown: memory.find,
    note: memory.note,
    async validate(keyHash) {
      const account = await ask(keyHash)
      refuseInactive(account)
      return account
    },
    validateUnknown(keyHash, address) {
      const name = `${keyHash} ${address}`
      const shared = validating.get(name) ?? validateInTurn(keyHash, address).finally(() => validating.delete(name))
      validating.set(name, shared)
      return shared
    },
  }
}

/** Throws 401 or 403 for a key that is not active. */
export function refuseInactive(reply: Account | UnknownKey): asserts reply is Account {
  if (reply.verdict === 'disabled') throw refuse('disabledKey')
  if (reply.verdict !== 'active') throw refuse('invalidKey')
}

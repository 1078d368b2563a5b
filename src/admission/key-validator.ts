/** The service key: its format, its hash, and whether it is good, which it is when the database says so now. */
import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { createError } from '../errors/errors.ts'
import type { ResolvedKey, UnknownKey } from '../postgres/admit-requests.ts'
import { type FastStore, unknownKeyWindowName } from '../stores/fast-store.ts'
import type { Quota } from './quota.ts'
import { createRateLimitError } from './rate-limiter.ts'

const KEY_FORM = /^lgw_(proj|test)_[0-9A-Za-z_-]{8,200}$/

/** Accounts kept in memory: guesses that save a round trip, never verdicts. */
const MAX_KNOWN_KEYS = 100_000

/** Unknown keys per address and minute. Beyond that they are queued, so that guessing keys costs few database calls. */
const UNKNOWN_KEYS_PER_MINUTE = 120
const RELEASE_EVERY_MS = 200
const MAX_QUEUED = 1_000

/** Hex SHA-256 of the Bearer key. Throws 401 when the header is missing, is not Bearer, or holds no key of this proxy's format. */
export function hashBearerKey(authorization: string | null): string {
  if (authorization === null || authorization.trim() === '') throw createError('missingKey')
  const match = /^Bearer +(\S+) *$/i.exec(authorization)
  const key = match?.[1]
  if (key === undefined || !KEY_FORM.test(key)) throw createError('invalidKey')
  return Bun.SHA256.hash(key, 'hex')
}

export interface KeyValidator {
  /** The key's account as last seen: a guess, never a verdict. Null when the key is not known to be good. */
  findCached(keyHash: string): ResolvedKey | null
  /** Remembers what the database just said about the key. */
  setCached(keyHash: string, resolvedKey: ResolvedKey | UnknownKey): void
  /** Throws 401, 403 or 503 unless the database confirms that the key is good now. */
  validate(keyHash: string): Promise<ResolvedKey>
  /**
   * As `validate`, for a key that is not known to be good. Throws 429, too, after many bad keys from its address. Concurrent requests
   * with the same key and address share one call.
   */
  validateUnknown(keyHash: string, address: string): Promise<ResolvedKey>
  /** As either of them, and throws a 403 for an address that the key may not be used from. */
  resolve(keyHash: string, address: string): Promise<ResolvedKey>
}

export function createKeyValidator(store: FastStore, quota: Pick<Quota, 'validate'>): KeyValidator {
  // Every entry has size 1. With `max` instead, the library would allocate room for all entries at each start.
  const known = new LRUCache<string, ResolvedKey>({ maxSize: MAX_KNOWN_KEYS, sizeCalculation: () => 1 })
  const slowLane = createSlowLane()
  const validating = new Map<string, Promise<ResolvedKey>>()

  function note(keyHash: string, resolvedKey: ResolvedKey | UnknownKey): void {
    if (resolvedKey.verdict === 'active') known.set(keyHash, resolvedKey)
    else known.delete(keyHash)
  }

  async function ask(keyHash: string): Promise<ResolvedKey | UnknownKey> {
    const account = await quota.validate(keyHash)
    note(keyHash, account)
    return account
  }

  /** After too many bad keys, further unproven keys from the address are queued. */
  async function validateInTurn(keyHash: string, address: string): Promise<ResolvedKey> {
    const window = { name: unknownKeyWindowName(address), limit: UNKNOWN_KEYS_PER_MINUTE }
    const counted = await store.count({ requests: 1, windows: [window], entries: [] })
    const isCrowded = counted.granted === 0
    if (isCrowded && !(await slowLane.enter())) throw createRateLimitError(UNKNOWN_KEYS_PER_MINUTE, counted.waitMs)
    const account = await ask(keyHash)
    if (account.verdict !== 'unknown' && !isCrowded) await store.uncount([window.name], 1, counted.receipt)
    if (account.verdict === 'unknown' && isCrowded) throw createRateLimitError(UNKNOWN_KEYS_PER_MINUTE, counted.waitMs)
    rejectInactiveKey(account)
    return account
  }

  async function validate(keyHash: string): Promise<ResolvedKey> {
    const account = await ask(keyHash)
    rejectInactiveKey(account)
    return account
  }

  function validateUnknown(keyHash: string, address: string): Promise<ResolvedKey> {
    const name = `${keyHash} ${address}`
    const shared = validating.get(name) ?? validateInTurn(keyHash, address).finally(() => validating.delete(name))
    validating.set(name, shared)
    return shared
  }

  return {
    findCached: keyHash => known.get(keyHash) ?? null,
    setCached: note,
    validate,
    validateUnknown,
    async resolve(keyHash, address) {
      const account = await (known.has(keyHash) ? validate(keyHash) : validateUnknown(keyHash, address))
      if (!isAddressAllowed(address, account)) throw createError('addressNotAllowed', { address })
      return account
    },
  }
}

/** Throws 401 or 403 for a key that is not active. */
export function rejectInactiveKey(reply: ResolvedKey | UnknownKey): asserts reply is ResolvedKey {
  if (reply.verdict === 'disabled') throw createError('disabledKey')
  if (reply.verdict !== 'active') throw createError('invalidKey')
}

/** Whether the key may be used from the address. */
export function isAddressAllowed(
  address: string,
  { allowed_addresses: networks }: Pick<ResolvedKey, 'allowed_addresses'>,
): boolean {
  if (networks === null) return true
  // A zone, as in fe80::1%eth0, is no part of what is compared.
  return listOf(networks).check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** By an account's own array, which lives as long as the account is as it is. */
const lists = new WeakMap<readonly string[], BlockList>()

function listOf(networks: readonly string[]): BlockList {
  let list = lists.get(networks)
  if (!list) {
    list = new BlockList()
    for (const network of networks) {
      const [base = '', bits] = network.split('/')
      list.addSubnet(base, Number(bits), isIP(base) === 6 ? 'ipv6' : 'ipv4')
    }
    lists.set(networks, list)
  }
  return list
}

/** The queue for unproven keys under load. Everything queued is released together, a few times a second. */
function createSlowLane() {
  let waiting: ((isReleased: boolean) => void)[] = []

  function release(): void {
    const all = waiting
    waiting = []
    for (const resolve of all) resolve(true)
  }

  return {
    /** Resolves to true when released; resolves to false at once when the queue is full. */
    enter(): Promise<boolean> {
      if (waiting.length >= MAX_QUEUED) return Promise.resolve(false)
      if (waiting.length === 0) setTimeout(release, RELEASE_EVERY_MS)
      return new Promise(resolve => waiting.push(resolve))
    },
  }
}

/** Validates service keys: their format, their hash and, in the database, whether they are active now. */
import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { createError } from '../errors/errors.ts'
import type { ResolvedKey, UnknownKey } from '../postgres/admit-requests.ts'
import { callFunction } from '../postgres/call.ts'
import type { Database } from '../postgres/database.ts'
import { hashKey } from '../postgres/key-hash.ts'
import { type FastStore, unknownKeyWindowName } from '../stores/fast-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Quota } from './quota.ts'
import { createRateLimitError } from './rate-limiter.ts'

const ISSUED_KEY = /^lgw_(proj|test)_[0-9A-Za-z_-]{8,200}$/
const IMPORTED_KEY = /^[!-~]{1,512}$/

/** Cached key records. They save a round trip and decide nothing. */
const MAX_KNOWN_KEYS = 100_000

/** Unknown keys allowed per address and minute. Further ones are queued, so that guessing keys causes few database calls. */
const UNKNOWN_KEYS_PER_MINUTE = 120
const RELEASE_EVERY_MS = 200
const MAX_QUEUED = 1_000

/**
 * Hash of the Bearer key. Throws 401 when the header is missing, is not Bearer, or its key has another format than the keys that are
 * issued here, unless imported keys are accepted.
 */
export function hashBearerKey(authorization: string | null, acceptsImportedKeys: boolean): string {
  if (authorization === null || authorization.trim() === '') throw createError('missingKey')
  const match = /^Bearer +(\S+) *$/i.exec(authorization)
  const key = match?.[1]
  if (key === undefined || !(ISSUED_KEY.test(key) || (acceptsImportedKeys && IMPORTED_KEY.test(key))))
    throw createError('invalidKey')
  return hashKey(key)
}

/** Returns the hash of a Bearer key of any accepted format, by which rejections are counted; undefined if there is none. */
export function findKeyHash(authorization: string | null): string | undefined {
  try {
    return hashBearerKey(authorization, true)
  } catch {
    return undefined
  }
}

export interface KeyValidator {
  /** Returns the cached key record, which may be outdated and decides nothing. Null when the key is not known to be active. */
  findCached(keyHash: string): ResolvedKey | null
  /** Caches the database's latest reply about the key. A key that is not active is removed from the cache. */
  setCached(keyHash: string, resolvedKey: ResolvedKey | UnknownKey): void
  /** Throws 401, 403 or 503 unless the database confirms that the key is active now. */
  validate(keyHash: string): Promise<ResolvedKey>
  /**
   * Like `validate`, for a key that is not known to be active. Also throws 429 after many unknown keys from its address. Concurrent
   * requests with the same key and address share one call.
   */
  validateUnknown(keyHash: string, address: string): Promise<ResolvedKey>
  /** Calls `validate` or `validateUnknown`. Also throws 403 for an address that the key may not be used from. */
  resolve(keyHash: string, address: string): Promise<ResolvedKey>
}

export function createKeyValidator(store: FastStore, quota: Pick<Quota, 'validate'>): KeyValidator {
  // Every entry has size 1. With `max`, the library would allocate memory for all entries at startup.
  const known = new LRUCache<string, ResolvedKey>({ maxSize: MAX_KNOWN_KEYS, sizeCalculation: () => 1 })
  const delayQueue = createDelayQueue()
  const validating = new Map<string, Promise<ResolvedKey>>()

  function setCached(keyHash: string, resolvedKey: ResolvedKey | UnknownKey): void {
    if (resolvedKey.verdict === 'active') known.set(keyHash, resolvedKey)
    else known.delete(keyHash)
  }

  async function fetchKey(keyHash: string): Promise<ResolvedKey | UnknownKey> {
    const resolvedKey = await quota.validate(keyHash)
    setCached(keyHash, resolvedKey)
    return resolvedKey
  }

  /** Delays the call after too many unknown keys from the address. */
  async function validateRateLimited(keyHash: string, address: string): Promise<ResolvedKey> {
    const window = { name: unknownKeyWindowName(address), limit: UNKNOWN_KEYS_PER_MINUTE }
    const counted = await store.count({ requests: 1, windows: [window], entries: [] })
    const isDelayed = counted.granted === 0
    if (isDelayed && !(await delayQueue.enter())) throw createRateLimitError(UNKNOWN_KEYS_PER_MINUTE, counted.waitMs)
    const resolvedKey = await fetchKey(keyHash)
    if (resolvedKey.verdict !== 'unknown' && !isDelayed) await store.uncount([window.name], 1, counted.receipt)
    if (resolvedKey.verdict === 'unknown' && isDelayed)
      throw createRateLimitError(UNKNOWN_KEYS_PER_MINUTE, counted.waitMs)
    rejectInactiveKey(resolvedKey)
    return resolvedKey
  }

  async function validate(keyHash: string): Promise<ResolvedKey> {
    const resolvedKey = await fetchKey(keyHash)
    rejectInactiveKey(resolvedKey)
    return resolvedKey
  }

  function validateUnknown(keyHash: string, address: string): Promise<ResolvedKey> {
    const name = `${keyHash} ${address}`
    const shared = validating.get(name) ?? validateRateLimited(keyHash, address).finally(() => validating.delete(name))
    validating.set(name, shared)
    return shared
  }

  return {
    findCached: keyHash => known.get(keyHash) ?? null,
    setCached,
    validate,
    validateUnknown,
    async resolve(keyHash, address) {
      const resolvedKey = await (known.has(keyHash) ? validate(keyHash) : validateUnknown(keyHash, address))
      if (!isAddressAllowed(address, resolvedKey)) throw createError('addressNotAllowed', { address })
      return resolvedKey
    },
  }
}

/** Throws 401 or 403 for a key that is not active. */
export function rejectInactiveKey(reply: ResolvedKey | UnknownKey): asserts reply is ResolvedKey {
  if (reply.verdict === 'disabled') throw createError('disabledKey')
  if (reply.verdict !== 'active') throw createError('invalidKey')
}

/** Returns whether the key may be used from the address. */
export function isAddressAllowed(
  address: string,
  { allowed_addresses: networks }: Pick<ResolvedKey, 'allowed_addresses'>,
): boolean {
  if (networks === null) return true
  // The zone of an address, as in fe80::1%eth0, is not compared.
  return blockListOf(networks).check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Cached block lists by the array of a ResolvedKey, which is replaced when the key changes. */
const blockLists = new WeakMap<readonly string[], BlockList>()

function blockListOf(networks: readonly string[]): BlockList {
  let list = blockLists.get(networks)
  if (!list) {
    list = new BlockList()
    for (const network of networks) {
      const [base = '', bits] = network.split('/')
      list.addSubnet(base, Number(bits), isIP(base) === 6 ? 'ipv6' : 'ipv4')
    }
    blockLists.set(networks, list)
  }
  return list
}

/** The queue for unknown keys under load. All queued requests are released together, five times a second. */
function createDelayQueue() {
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

/** Imported keys of another gateway may have any format. Whether there are any is read at the start and then at this interval. */
const REFRESH_EVERY_MS = 2_000
const IMPORTED_KEYS_PART = 'imported_keys'

export interface ImportedKeys {
  /** Returns whether any imported key is valid. If not, a key of another format is rejected without a database call. */
  areAccepted(): boolean
  close(): void
}

export async function watchImportedKeys(
  database: Pick<Database, 'call'>,
  { failures }: Pick<Log, 'failures'>,
  refreshMs = REFRESH_EVERY_MS,
): Promise<ImportedKeys> {
  const read = () => callFunction(database, 'has_imported_keys', {})
  let areAccepted = await read()
  let isReading = false
  const timer = setInterval(async () => {
    if (isReading) return
    isReading = true
    try {
      areAccepted = await read()
      failures.recover('database', IMPORTED_KEYS_PART)
    } catch (error) {
      failures.report('database', error, 'the use of imported keys could not be read', { part: IMPORTED_KEYS_PART })
    } finally {
      isReading = false
    }
  }, refreshMs)
  timer.unref()
  return { areAccepted: () => areAccepted, close: () => clearInterval(timer) }
}

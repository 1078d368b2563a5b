/**
 * A fast store that never fails a request. While Redis is unavailable, entries are misses, and this process counts rate windows from their
 * last known state. When Redis is back, the requests counted meanwhile are reported to it.
 */
import { createSharedTimeout } from '../event-loop/timeouts.ts'
import type { CountBatch, CountResult, FastStore } from './fast-store.ts'
import { RateWindowMirror } from './rate-window-mirror.ts'

/** Redis replies in well under a millisecond. After this long, it is treated as unavailable. */
const TIME_LIMIT_MS = 500
/** After a failure, Redis is not called for this long, so that a hanging Redis does not slow every request. */
const RETRY_AFTER_MS = 500

/** Called when the store or one of its shards becomes unavailable, with the cause, and when it is available again. */
type OnStoreChange = (isUp: boolean, shard: string, cause?: unknown) => void

export interface FallbackStore extends FastStore {
  /** Returns whether the last attempt succeeded on every shard. */
  isUp(): boolean
  /** Runs another operation on the name's shard. Rejects at once while that shard is not called. */
  runGuarded<T>(name: string, run: () => Promise<T>): Promise<T>
}

export interface FallbackStoreOptions {
  /** Number of processes that share the store. While it is unavailable, each process grants its share of every limit. */
  processCount?(): number
  onAvailabilityChange?: OnStoreChange
}

export function createFallbackStore(
  store: FastStore,
  { processCount = () => 1, onAvailabilityChange }: FallbackStoreOptions = {},
): FallbackStore {
  const mirror = new RateWindowMirror(processCount)
  const guards = new ShardGuards(name => store.shardOf?.(name) ?? '', onAvailabilityChange)

  /** Records the reply even when it comes too late for the request. */
  async function countInStore(batch: CountBatch): Promise<CountResult> {
    const reported = mirror.addUnreported(batch)
    try {
      const counted = await store.count(reported)
      mirror.recordCounted(reported, counted)
      return counted
    } catch (error) {
      mirror.recordFailed(reported)
      throw error
    }
  }

  const nothing = () => {}
  return {
    kind: store.kind,
    ...(store.shardOf ? { shardOf: store.shardOf } : {}),
    isUp: () => guards.areUp(),
    runGuarded: (name, run) =>
      guards.of(name).try(run, () => {
        throw new StoreUnavailable()
      }),
    count(batch: CountBatch): Promise<CountResult> {
      let isCountedLocally = false
      async function attempt(): Promise<CountResult> {
        const counted = await countInStore(batch)
        if (isCountedLocally) await uncountLateReply(store, batch, counted)
        return counted
      }
      return guards.of(batch.windows[0]?.name ?? '').try(attempt, () => {
        isCountedLocally = true
        return mirror.countWithoutRedis(batch)
      })
    },
    // A request is uncounted where it was counted, even if the other store is in use now.
    uncount: async (names, requests, receipt) =>
      receipt.isInStore
        ? guards.of(names[0] ?? '').try(() => store.uncount(names, requests, receipt), nothing)
        : mirror.uncountWithoutRedis(names, requests, receipt.second),
    writeEntry: (name, bytes, ttlMs) =>
      guards.of(name).try(
        () => store.writeEntry(name, bytes, ttlMs),
        () => false,
      ),
    deleteEntry: name => guards.of(name).try(() => store.deleteEntry(name), nothing),
    readEntries: names =>
      guards.of(names[0] ?? '').try(
        () => store.readEntries(names),
        () => names.map(() => null),
      ),
    writeEntries: entries =>
      guards.of(entries[0]?.name ?? '').try(
        () => store.writeEntries(entries),
        () => false,
      ),
    ping: () => store.ping(),
    async close() {
      mirror.close()
      await store.close()
    },
  }
}

/** Removes a batch from Redis whose reply came too late, because this process has counted it meanwhile. */
async function uncountLateReply(
  store: FastStore,
  { windows }: CountBatch,
  { granted, receipt }: CountResult,
): Promise<void> {
  if (granted === 0) return
  const names = windows.map(window => window.name)
  await store.uncount(names, granted, receipt).catch(() => {})
}

export class StoreUnavailable extends Error {
  override name = 'StoreDown'

  constructor() {
    super('Redis did not reply to its last command; the request continues without it')
  }
}

/** One guard per shard, so that the projects of one shard do not wait for another. */
class ShardGuards {
  readonly #shardOf: (name: string) => string
  readonly #onChange: OnStoreChange | undefined
  readonly #guards = new Map<string, StoreGuard>()

  constructor(shardOf: (name: string) => string, onChange: OnStoreChange | undefined) {
    this.#shardOf = shardOf
    this.#onChange = onChange
  }

  of(name: string): StoreGuard {
    const shard = this.#shardOf(name)
    let guard = this.#guards.get(shard)
    if (!guard) {
      this.#removeUnavailable()
      guard = new StoreGuard((isUp, cause) => this.#onChange?.(isUp, shard, cause))
      this.#guards.set(shard, guard)
    }
    return guard
  }

  areUp(): boolean {
    return Array.from(this.#guards.values()).every(guard => guard.isUp)
  }

  /** Removes the guards of unavailable shards, which a new server may have replaced. A shard that is still unavailable is detected again. */
  #removeUnavailable(): void {
    for (const [shard, { isUp }] of this.#guards) {
      if (isUp) continue
      this.#guards.delete(shard)
      this.#onChange?.(true, shard)
    }
  }
}

/** Calls the store with a time limit. After a failure, it does not call the store for `RETRY_AFTER_MS`. */
class StoreGuard {
  readonly #onChange: (isUp: boolean, cause?: unknown) => void
  readonly #withTimeout = createSharedTimeout(TIME_LIMIT_MS)
  #retryAtMs = 0
  #isUp = true

  constructor(onChange: (isUp: boolean, cause?: unknown) => void) {
    this.#onChange = onChange
  }

  /** True when the last attempt succeeded. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** Runs `attempt`, or `fallback` while the store is unavailable. */
  async try<T>(attempt: () => Promise<T>, fallback: () => T | Promise<T>): Promise<T> {
    const now = performance.now()
    if (now < this.#retryAtMs) return fallback()
    // One caller at a time probes an unavailable store.
    if (!this.#isUp) this.#retryAtMs = now + RETRY_AFTER_MS
    try {
      const result = await this.#withTimeout(attempt())
      this.#retryAtMs = 0
      this.#setUp(true)
      return result
    } catch (error) {
      this.#retryAtMs = performance.now() + RETRY_AFTER_MS
      this.#setUp(false, error)
      return fallback()
    }
  }

  #setUp(isUp: boolean, cause?: unknown): void {
    if (this.#isUp === isUp) return
    this.#isUp = isUp
    this.#onChange(isUp, cause)
  }
}
